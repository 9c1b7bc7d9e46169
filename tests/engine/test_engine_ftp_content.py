import json

import pytest

from mptcplab.engine.kernel.ftp_content import PERIOD_BYTES, Content, Receiver


def stream(content: Content, offset: int, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        parts += content.part(offset + len(parts), length - len(parts))
    return bytes(parts)


def test_content_continues_across_its_period() -> None:
    content = Content(1)
    whole = stream(content, 0, 3 * PERIOD_BYTES)
    assert whole[PERIOD_BYTES : 2 * PERIOD_BYTES] == whole[:PERIOD_BYTES]
    assert stream(content, 1000, 200_000) == (whole * 2)[1000:201_000]


def test_the_first_wrong_byte_is_found() -> None:
    content = Content(1)
    received = bytearray(stream(content, 1000, 150_000))
    assert content.first_difference(1000, bytes(received)) is None
    received[100_000] ^= 1
    assert content.first_difference(1000, bytes(received)) == 101_000


def test_another_seed_is_another_content() -> None:
    assert Content(2).first_difference(0, Content(1).part(0, 100)) is not None


def test_a_receiver_tells_what_came_and_whether_it_was_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    content = Content(1)
    receiver = Receiver(7, content)
    receiver.take(content.part(0, 100))
    receiver.take(b"wrong")
    receiver.finish()
    delivered, received = map(json.loads, capsys.readouterr().out.splitlines())
    assert (delivered["event"], delivered["index"]) == ("delivered", 7)
    times, sizes = zip(*delivered["deliveries"], strict=True)
    assert sizes == (100, 5)
    assert times[0] <= times[1]
    wrong = next(
        i for i, (a, b) in enumerate(zip(b"wrong", content.part(100, 5), strict=True)) if a != b
    )
    assert received == {"event": "received", "index": 7, "wrong": 100 + wrong}


def test_a_receiver_without_data_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Receiver(0, Content(1)).finish()
    assert capsys.readouterr().out == ""
