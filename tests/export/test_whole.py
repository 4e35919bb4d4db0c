"""A file is there whole, or what was there before is."""

import os
from pathlib import Path

import pytest

from peerlab.errors import ExportError
from peerlab.export.whole import place_of, written


def write(path, text="new"):
    with written(place_of(path)) as file:
        file.write_text(text)


def test_what_was_there_stays_until_the_new_file_is_whole(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("old")
    with pytest.raises(ExportError, match=r"^cannot write .*page\.html: full$"), written(file):
        raise OSError("full")
    with pytest.raises(KeyboardInterrupt), written(file):
        raise KeyboardInterrupt
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
    write(file)
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_only_what_goes_wrong_with_the_file_is_called_so(tmp_path):
    """A mistake in what is to be written keeps its own words."""
    with pytest.raises(ValueError, match=r"^of the drawing$"), written(tmp_path / "page.html"):
        raise ValueError("of the drawing")
    assert list(tmp_path.iterdir()) == []


def test_others_may_read_it_as_far_as_the_user_lets_them(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a.png")
    finally:
        os.umask(before)
    assert (tmp_path / "a.png").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_one_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near.html").symlink_to("far/page.html")
    write(tmp_path / "near.html")
    assert (tmp_path / "near.html").is_symlink()
    assert (tmp_path / "far" / "page.html").read_text() == "new"


def test_what_is_no_place_for_a_file_is_refused_before_anything_is_made(tmp_path):
    (tmp_path / "loop.html").symlink_to("loop.html")
    (tmp_path / "device.html").symlink_to("/dev/null")
    for path, why in (
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "a.html", "there is no folder"),
        (tmp_path / "device.html", "it is a device or a pipe"),
        (tmp_path / "loop.html", "[Ss]ymlink loop|symbolic links"),
        (tmp_path / f"{300 * 'x'}.html", "File name too long"),
        ("a\0b.html", "null byte"),
        ("~nobody-of-this-name/a.html", "home directory"),
    ):
        with pytest.raises(ExportError, match=f"^cannot write .*(?:{why})"), written(place_of(path)):
            pytest.fail("it began")
    assert Path("/dev/null").is_char_device()
