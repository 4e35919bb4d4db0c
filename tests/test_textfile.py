"""A file that a user hands over is a small text, or one line says why not."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerlab.base.errors import HardwareError, RecordsError
from peerlab.base.textfile import in_words, read_text, read_toml


def read(path, most_bytes=100):
    return read_text(path, what="log", most_bytes=most_bytes, error=RecordsError)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"one\ntwo\n", "one\ntwo\n"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
        (b"\xef\xbb\xbf16 \xc2\xb5s", "16 µs"),
        (b"", ""),
    ],
)
def test_a_text_is_read_whatever_wrote_it(tmp_path, written, text):
    (tmp_path / "run.log").write_bytes(written)
    assert read(tmp_path / "run.log") == text
    assert read(str(tmp_path / "run.log")) == text


def test_home_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "run.log").write_text("here")
    assert read("~/run.log") == "here"


def test_files_without_a_size_are_read_up_to_the_limit():
    assert Path("/proc/self/status").stat().st_size == 0
    assert read("/proc/self/status", most_bytes=10**6).startswith("Name:")
    with pytest.raises(RecordsError, match="is larger than 10 B; that is no log"):
        read("/proc/self/status", most_bytes=10)


def test_the_limit_is_the_last_size_that_is_read(tmp_path):
    (tmp_path / "full.log").write_bytes(b"x" * 100)
    assert len(read(tmp_path / "full.log")) == 100
    (tmp_path / "more.log").write_bytes(b"x" * 101)
    with pytest.raises(RecordsError, match="larger than 100 B"):
        read(tmp_path / "more.log")


def test_a_huge_file_is_refused_without_reading_it(tmp_path):
    with (tmp_path / "huge.log").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(RecordsError, match=r"huge\.log is larger than 16 MiB; that is no log"):
        read(tmp_path / "huge.log", most_bytes=2**24)


@pytest.mark.parametrize("held", [b"\x7fELF\x02\x01\x01\x00\x00", b"a\x00b", b"\xff\xfea\x00", b"caf\xe9"])
def test_what_is_no_text_is_called_so(tmp_path, held):
    (tmp_path / "binary").write_bytes(held)
    with pytest.raises(RecordsError, match="binary is not a text file in UTF-8"):
        read(tmp_path / "binary")


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", tmp_path / "zero", tmp_path):
        with pytest.raises(RecordsError, match=r"cannot read .*: not a file"):
            read(path)


@pytest.mark.parametrize("name", ["none.log", "run.log/none", "\x00", "~no-such-user/run.log", "x" * 5000])
def test_what_cannot_be_read_is_said_in_one_line(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.log").write_text("here")
    with pytest.raises(RecordsError, match="cannot read ") as caught:
        read(name)
    assert "\n" not in str(caught.value)


def test_errors_in_our_own_words_stay_as_they_are():
    with pytest.raises(RecordsError, match=r"^line 3 is odd$"), in_words("cannot write x", RecordsError):
        raise RecordsError("line 3 is odd")


LONG = ".".join("a" * 33)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"x = 1\n[{LONG}]",
        f"x = {{ y = 1, {LONG} = 1 }}",
        " . ".join(["'='", '"\\""'] * 20) + " = 1",
        f'x = """a""""\n{LONG} = 1',
        f"x = '''a'''''\n{LONG} = 1",
        f'x = "" # "\n{LONG} = 1',
        f'x = "\\\\"\n{LONG} = 1',
    ],
)
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(text, monkeypatch):
    """The parser would take seconds for thousands of parts, minutes for a file of 1 MiB."""
    tomllib.loads(text)  # it is TOML
    monkeypatch.setattr("tomllib.loads", lambda _: pytest.fail("it was parsed"))
    line = text.count("\n") + 1
    with pytest.raises(HardwareError, match=rf"^my\.toml: line {line} has a key of more than 32 parts$"):
        read_toml(text, "my.toml", HardwareError)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG[2:]} = 1",
        f"x = '{LONG}' # {LONG}",
        f'x = """\n{LONG}\n"""',
        f"x = [{', '.join(['0.5'] * 100)}]",
        f'x = "{LONG}"\ny = [1.0]',
    ],
)
def test_dots_elsewhere_are_no_matter(text):
    assert read_toml(text, "my.toml", HardwareError) == tomllib.loads(text)


@given(st.text(alphabet="a.\"'\\# =[]{}\n1-", max_size=60))
def test_what_is_read_is_what_the_parser_reads(text):
    try:
        true = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(HardwareError, match=r"^my\.toml: "):
            read_toml(text, "my.toml", HardwareError)
    else:
        assert read_toml(text, "my.toml", HardwareError) == true
