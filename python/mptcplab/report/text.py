"""Text of programs, as it may be shown."""


def printable(text: str) -> str:
    """The text with what would steer a terminal spelled out; tabs stay."""
    if text.isprintable():
        return text
    return "".join(
        sign
        if sign == "\t" or sign.isprintable()
        else sign.encode("unicode_escape", "surrogatepass").decode()
        for sign in text
    )
