"""What an answer prints: cut into calls, kept within bounds, harmless on a terminal."""

from __future__ import annotations

from grader.transport.output import HEAD, TAIL, Output, marker


def never() -> bool:
    """Nothing more comes."""
    return False


def test_cut_into_calls() -> None:
    """Each call gets what came before its marker, wherever the reads were cut."""
    output = Output()
    stream = b"one\n" + marker("a1") + marker("b2") + "zwei ü\n".encode() + marker("c3") + b"rest"
    for byte in stream:
        output.add(bytes([byte]))
    assert [output.up_to(nonce, never) for nonce in ("a1", "b2", "c3")] == ["one\n", "", "zwei ü\n"]
    assert output.rest() == "rest"
    assert output.rest() == ""


def test_reads_until_the_marker_is_there() -> None:
    """A marker that is still on its way is waited for as long as something comes."""
    output = Output()
    parts = [b"hel", b"lo", marker("n")[:2], marker("n")[2:], b"next"]

    def more() -> bool:
        if parts:
            output.add(parts.pop(0))
        return bool(parts)

    assert output.up_to("n", more) == "hello"
    assert output.up_to("m", more) == "next"


def test_a_forged_marker() -> None:
    """Who forges the marker of another call only cuts his own words."""
    output = Output()
    output.add(b"a" + marker("guessed") + b"b" + marker("real"))
    assert output.up_to("real", never) == "a\\x00guessed\\x00b"


def test_a_missing_marker() -> None:
    """An answer that closed its output loses nothing but the cut."""
    output = Output()
    output.add(b"printed before the end")
    assert output.up_to("n", never) == "printed before the end"
    assert output.pending == 0


def test_a_flood() -> None:
    """Start and end are shown, the rest is counted; no more is kept in memory than a few screens."""
    output = Output()
    line = b"0123456789abcde\n"
    for _ in range(10_000):
        output.add(line)
        assert len(output._kept) <= 4 * (HEAD + TAIL)
    output.add(marker("n") + b"the next call")
    assert output.pending > 10_000 * len(line)
    part = output.up_to("n", never)
    assert part.startswith("0123456789abcde\n0123")
    assert part.endswith("abcde\n")
    assert len(part) < HEAD + TAIL + 100
    left_out = int(part.partition("... [")[2].partition(" bytes left out")[0])
    assert left_out == 10_000 * len(line) - HEAD - TAIL
    assert output.up_to("m", never) == "the next call"


def test_a_little_too_much() -> None:
    """Just above the bound, what is left out is told as well."""
    output = Output()
    output.add(b"a" * (HEAD + TAIL))
    assert "left out" not in output.text()
    output.add(b"bb")
    assert "[2 bytes left out]" in output.text()
    assert output.text().endswith("bb")


def test_control_characters() -> None:
    """Escape sequences, bells, zero bytes, broken UTF-8 and text that runs backwards are made harmless."""
    output = Output()
    output.add(b"\x1b[31mred\x1b[0m \x07 \0 \xff \xe2\x80\xae tab\tnew\r\nline")
    assert output.rest() == "red \\x07 \\x00 \\xff \\u202e tab\tnew\nline"


def test_a_flood_of_many_calls() -> None:
    """What several calls print before any is asked for stays with each: no marker is lost, and none shown."""
    output = Output(1 << 20)
    nonces = [f"n{number}" for number in range(20)]
    for nonce in nonces:
        output.add(nonce.encode() + b"x" * 20_000 + marker(nonce))
    parts = [output.up_to(nonce, never) for nonce in nonces]
    assert [part.split("x")[0] for part in parts] == nonces
    assert not any("\\x00" in part for part in parts)
    assert all(
        f"[{20_000 + len(nonce) - HEAD - TAIL} bytes left out]" in part
        for nonce, part in zip(nonces, parts, strict=True)
    )
