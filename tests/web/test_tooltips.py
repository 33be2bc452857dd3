"""Where the editor tells what is wrong, in a real browser."""

from __future__ import annotations

import pytest

from tests.web import browser
from tests.web.browser import Tab

pytestmark = [
    pytest.mark.skipif(bool(browser.missing()), reason=browser.missing()),
    pytest.mark.xdist_group("browser"),
]


@pytest.mark.parametrize("width", [1200, 400])
def test_what_f8_tells_covers_neither_its_line_nor_the_file_name(tab: Tab, width) -> None:
    """The first lines of a file have no room above them, those further down have."""
    page = tab.page
    page.set_viewport_size({"width": width, "height": 800})
    tab.begin("second")
    tab.write("fail: cause\nscores = 1\n")
    tab.grade()
    for scrolled in (0, 150):
        page.evaluate(
            "top => document.querySelectorAll('.frame, #main').forEach(one => { one.scrollTop = top; })", scrolled
        )
        page.keyboard.press("F8")
        page.wait_for_selector(".cm-tooltip-lint")
        page.wait_for_function("() => document.querySelector('.cm-tooltip').getBoundingClientRect().top > 0")
        tab.shoot(f"f8-{width}-{scrolled}")
        told = page.locator(".cm-tooltip-lint").bounding_box()
        for covered in (".tools", ".cm-lintRange-error"):
            box = page.locator(covered).bounding_box()
            assert told["y"] >= box["y"] + box["height"] - 1 or told["y"] + told["height"] <= box["y"] + 1, covered
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Home")
