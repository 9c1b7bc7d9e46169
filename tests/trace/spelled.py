"""The MPTCP options of a segment spelled out from the fields of tshark.

tshark gives the values of each field in the order of the options; an option that is read here takes
its values from the front. What is left at the end was not understood.
"""

from collections.abc import Callable

Fields = dict[str, list[str]]


def spell(fields: Fields) -> str | None:
    """Text of all options, as in the column `mptcp`; null if there are none."""
    left = {name: list(values) for name, values in fields.items()}
    subtypes = [int(value) for value in fields["subtype"]]
    texts = [_SPELLED[subtype](left) for subtype in subtypes]
    left["subtype"] = []
    over = {name: values for name, values in left.items() if values}
    assert not over, f"not read: {over} of {fields}"
    return "; ".join(texts) or None


def data_checksum(options: bytes) -> int | None:
    """The data checksum of the DSS among the bytes of all options: tshark does not take it out."""
    while options and options[0]:
        length = 1 if options[0] == 1 else options[1]
        option, options = options[:length], options[length:]
        if option[0] == 30 and option[2] >> 4 == 2 and option[3] & 4:
            before = 4 + (4 + 4 * bool(option[3] & 2)) * (option[3] & 1) + 4
            if length == before + 4 * bool(option[3] & 8) + 6 + 2:
                return int.from_bytes(option[-2:])
    return None


def _take(left: Fields, name: str) -> str:
    return left[name].pop(0)


def _hex(value: str, digits: int) -> str:
    return f"0x{int(value, 0):0{digits}x}"


def _capable(left: Fields) -> str:
    words = ["MP_CAPABLE", "v" + _take(left, "version")]
    _take(left, "flags")
    named = (
        ("A", "checksumreq.flags"),
        ("B", "extensibility.flag"),
        ("C", "nomoresubflows.flag"),
        ("H", "sha1.flag" if left["sha1.flag"] else "sha256.flag"),
    )
    shown = [(letter, name) for letter, name in named if left[name]]
    flags = "".join(letter for letter, name in shown if int(_take(left, name)))
    if flags:
        words.append("flags=" + flags)
    if left["sendkey"]:
        words.append("key=" + _hex(_take(left, "sendkey"), 16))
    if left["recvkey"] and "7" not in left["subtype"]:
        words.append("peer_key=" + _hex(_take(left, "recvkey"), 16))
    if left["datalvllen"]:
        words.append("data_bytes=" + _take(left, "datalvllen"))
        if left["checksum"]:
            words.append("checksum=" + _hex(_take(left, "checksum"), 4))
    return " ".join(words)


def _join(left: Fields) -> str:
    if left["sendhmac"]:
        return "MP_JOIN hmac=0x" + _take(left, "sendhmac").replace(":", "")
    _take(left, "flags")
    words = ["MP_JOIN", "backup=" + _take(left, "backup.flag"), "id=" + _take(left, "addrid")]
    if left["recvtok"]:
        words.append("token=" + _hex(_take(left, "recvtok"), 8))
    else:
        words.append("hmac=" + _hex(_take(left, "sendtrunchmac"), 16))
    words.append("nonce=" + _hex(_take(left, "sendrand"), 8))
    return " ".join(words)


def _dss(left: Fields) -> str:
    _take(left, "flags")
    words = ["DSS"]
    if int(_take(left, "datafin.flag")):
        words.append("fin")
    long_sequence, mapped = int(_take(left, "dseqn8.flag")), int(_take(left, "dseqnpresent.flag"))
    long_acknowledgement = int(_take(left, "dataack8.flag"))
    if int(_take(left, "dataackpresent.flag")):
        words.append("ack=" + _take(left, "rawdataack"))
        words.append(f"ack_bytes={8 if long_acknowledgement else 4}")
    if mapped:
        words.append("dsn=" + _take(left, "rawdataseqno"))
        words.append(f"dsn_bytes={8 if long_sequence else 4}")
        words.append("ssn=" + _take(left, "subflowseqno"))
        words.append("len=" + _take(left, "datalvllen"))
    return " ".join(words)


def _add_address(left: Fields) -> str:
    echo = int(_take(left, "echo")) if left["echo"] else 0
    if left["ipver"]:
        _take(left, "ipver")
    words = ["ADD_ADDR", *["echo"] * echo, "id=" + _take(left, "addrid")]
    words.append("address=" + _take(left, "ipv4" if left["ipv4"] else "ipv6"))
    if left["port"]:
        words.append("port=" + _take(left, "port"))
    if left["addaddrtrunchmac"]:
        words.append("hmac=" + _hex(_take(left, "addaddrtrunchmac"), 16))
    return " ".join(words)


def _remove_address(left: Fields) -> str:
    ids, left["addrid"] = left["addrid"], []
    return "REMOVE_ADDR ids=" + ",".join(ids)


def _priority(left: Fields) -> str:
    _take(left, "flags")
    words = ["MP_PRIO", "backup=" + _take(left, "backup.flag")]
    if left["addrid"]:
        words.append("id=" + _take(left, "addrid"))
    return " ".join(words)


def _fail(left: Fields) -> str:
    return "MP_FAIL dsn=" + _take(left, "rawdataseqno")


def _fast_close(left: Fields) -> str:
    return "MP_FASTCLOSE key=" + _hex(_take(left, "recvkey"), 16)


def _reset(left: Fields) -> str:
    _take(left, "flags")
    transient = {"True": 1, "False": 0}.get(left["flag_T.flag"][0], left["flag_T.flag"][0])
    left["flag_T.flag"] = []
    return f"MP_TCPRST transient={transient} reason={int(_take(left, 'rst_reason'), 0)}"


_SPELLED: dict[int, Callable[[Fields], str]] = {
    0: _capable,
    1: _join,
    2: _dss,
    3: _add_address,
    4: _remove_address,
    5: _priority,
    6: _fail,
    7: _fast_close,
    8: _reset,
}
