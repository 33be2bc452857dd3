"""The page in a real browser, used as a learner does; with made-up katas, and once with a real grading."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

from tests.web import browser
from tests.web.browser import Tab
from tests.web.conftest import Web

pytestmark = [
    pytest.mark.skipif(bool(browser.missing()), reason=browser.missing()),
    pytest.mark.xdist_group("browser"),
]
needs_axe = pytest.mark.skipif(
    not browser.AXE.is_file(), reason="axe-core is not there: `npm ci` in grader/web/bundle brings it"
)
NASTY = "<img src=x onload=alert(1)><script>document.title='run'</script>"


def test_a_session(tab: Tab, web: Web) -> None:
    """Begin a kata, fail with a mistake that is named at its line, take a hint, pass, rate it, be asked about it."""
    page = tab.page
    assert "key=" not in page.url
    tab.begin("second")
    tab.shoot("begun")
    tab.write("fail: cause\nscores = 1\n")
    tab.grade()
    assert "mask over heads" in page.inner_text(".verdict")
    assert page.inner_text(".cm-lintRange-error") == "scores = 1"
    page.keyboard.press("F8")
    assert "unsqueeze the head dimension" in page.inner_text(".cm-tooltip, .cm-panel")
    page.click(".verdict button.where >> nth=0")
    tab.shoot("failed")
    page.click("role=tab[name='Hints']")
    page.click("text=Show a hint")
    page.wait_for_selector(".panel >> text=Think.")
    tab.write("pass\n")
    tab.grade()
    page.wait_for_selector(".after button[aria-pressed=true]")
    assert page.inner_text(".after button[aria-pressed=true]") == "hard"
    assert page.locator(".cm-lintRange-error").count() == 0
    page.click(".after button:has-text('good')")
    page.wait_for_selector("text=second is rated good")
    page.wait_for_selector("#course a[data-kata=second] .mark.passed")
    tab.shoot("passed")
    page.click(".after button:has-text('Talk')")
    page.click("text=Say your answer aloud")
    page.wait_for_selector("text=Because of the cache.")
    page.click("button:has-text('3 known')")
    page.wait_for_selector("text=How large is it?")
    page.click("role=tab[name='Solution']")
    page.wait_for_selector(".panel pre >> text=return 42")
    assert web.tool.kept() == ["fail: cause\nscores = 1\n", "pass\n"]


def test_a_review(tab: Tab, web: Web) -> None:
    """What is due is written again, in a file of its own."""
    web.tool.passes("second")
    web.tool.days_later(20)
    tab.open()
    tab.page.click("#course .today a:has-text('second')")
    tab.page.click(".begin button:has-text('Begin the review')")
    tab.page.wait_for_selector(".cm-content")
    tab.write("pass again\n")
    tab.grade()
    tab.page.wait_for_selector(".after button[aria-pressed=true]")
    assert web.tool.workspace.joinpath("second.py").read_text() == "# pass\n"
    assert web.tool.workspace.joinpath("second_review.py").read_text() == "pass again\n"


def test_a_mock_interview(tab: Tab, web: Web) -> None:
    """Two stages with a clock and without help, three questions, a score card; a reload changes nothing."""
    page = tab.page
    tab.go("mock")
    page.select_option("#mock-kata", "second")
    page.fill("#mock-minutes", "30")
    page.select_option("#mock-feedback", "count")
    page.click("text=Begin")
    page.wait_for_selector(".mockbar")
    assert page.locator("[role=tab]").all_inner_texts() == ["Task"]
    tab.write("pass\n")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=2 of 2 cases pass.")
    tab.shoot("mock")
    page.reload()
    page.wait_for_selector(".mockbar")
    assert tab.text().startswith("pass")
    assert "left" in page.inner_text(".clock")
    page.click("text=Hand in")
    page.wait_for_selector(".stages li[aria-current]:has-text('second')")
    tab.write("fail: cause\n")
    page.click("text=End it")
    page.click(".told button:has-text('End it')")
    for _ in range(3):
        page.click("text=Say your answer aloud")
        page.keyboard.press("3")
    page.wait_for_selector("text=1 of 2 stages passed in time")
    assert "mask over heads" in page.inner_text("main")
    tab.shoot("score-card")
    assert "1 of 2" in web.tool("mock", "--list").stdout


def test_a_reload_in_the_middle(tab: Tab, web: Web) -> None:
    """What was typed and not saved is there again, and so is the verdict on what was saved."""
    tab.begin("second")
    tab.write("fail: cause\n")
    tab.grade()
    tab.write("fail: cause\n# not saved\n")
    tab.page.on("dialog", lambda dialog: dialog.accept())
    tab.page.reload()
    tab.page.wait_for_selector(".verdict h2")
    assert "# not saved" in tab.text()
    assert "not saved" in tab.page.inner_text(".saved")
    assert "mask over heads" in tab.page.inner_text(".verdict")
    assert web.tool.workspace.joinpath("second.py").read_text() == "fail: cause\n"


def test_what_is_typed_at_the_beginning_stays(tab: Tab, web: Web) -> None:
    """The file is there before the page is made anew around it: nobody can type into what is about to go."""
    slow = """() => {
        const ask = fetch;
        window.fetch = async (url, options) => {
            const reply = await ask(url, options);
            if (/start|open/.test(url)) await new Promise((go) => setTimeout(go, 500));
            return reply;
        };
    }"""
    tab.go("second")
    tab.page.evaluate(slow)
    tab.page.click(".begin button")
    tab.page.wait_for_selector(".editor .cm-content")
    tab.page.click(".cm-content")
    tab.page.keyboard.press("Control+a")
    tab.page.keyboard.type("fail: cause", delay=100)
    assert tab.text() == "fail: cause"
    tab.grade()
    assert web.tool.workspace.joinpath("second.py").read_text() == "fail: cause"


def test_two_tabs(tab: Tab, window: Any, web: Web) -> None:
    """A tab shows what the other one saves; where both have written, neither is lost."""
    tab.begin("second")
    other = Tab(window.new_page(), web.link).open("second")
    other.write("fail, the other tab\n")
    other.grade()
    tab.page.bring_to_front()
    tab.page.wait_for_selector(".cm-line:has-text('the other tab')")
    tab.judged()
    tab.write("fail, mine\n")
    other.page.bring_to_front()
    other.write("fail, theirs\n")
    other.grade()
    tab.page.bring_to_front()
    tab.page.wait_for_selector(".conflict")
    assert "fail, mine" in tab.text()
    tab.shoot("two-texts")
    tab.page.click("text=Save mine")
    other.page.bring_to_front()
    other.page.wait_for_selector(".cm-line:has-text('mine')")
    assert web.tool.workspace.joinpath("second.py").read_text() == "fail, mine\n"
    assert "fail, theirs\n" in web.tool.kept()
    assert other.errors == []


def test_another_editor(tab: Tab, web: Web) -> None:
    """What it writes is shown and graded; over it nothing is written that has not seen it."""
    page = tab.page
    tab.begin("second")
    web.tool.answer("pass, in another editor\n")
    page.wait_for_selector(".cm-line:has-text('in another editor')")
    tab.judged("passed")
    tab.write("fail, here\n")
    web.tool.answer("pass, once more\n")
    page.wait_for_selector(".conflict")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Control+s")
    page.wait_for_timeout(300)
    assert web.tool.workspace.joinpath("second.py").read_text() == "pass, once more\n"
    page.click("text=Look at the text on disk")
    assert page.inner_text(".conflict pre") == "pass, once more\n"
    page.click("text=Take the text on disk")
    assert tab.text().startswith("pass, once more")
    web.tool.workspace.joinpath("second.py").unlink()
    page.wait_for_selector(".begin button")


def test_an_earlier_version(tab: Tab, web: Web) -> None:
    """It is looked at and brought back; what was typed meanwhile is a version."""
    tab.begin("second")
    tab.write("fail, first\n")
    tab.grade()
    tab.write("pass, second\n")
    tab.page.click("role=tab[name='History']")
    tab.page.click("text=Version 1")
    tab.page.wait_for_selector(".panel pre >> text=fail, first")
    tab.page.click("text=Bring it back")
    tab.page.wait_for_selector(".cm-line:has-text('fail, first')")
    assert "pass, second\n" in web.tool.kept()


def test_the_page_waits_for_its_server(tab: Tab, web: Web) -> None:
    """Where `kata web` has ended the page says so, keeps what was typed, and goes on when it is back."""
    tab.begin("second")
    web.stop()
    tab.page.wait_for_selector(".lost")
    tab.write("pass, while nobody was there\n")
    tab.page.keyboard.press("Control+Enter")
    tab.page.wait_for_timeout(200)
    web.start()
    tab.page.wait_for_selector(".lost", state="hidden")
    assert "while nobody was there" in tab.text()
    tab.page.click(".cm-content")
    tab.grade()
    assert web.tool.workspace.joinpath("second.py").read_text() == "pass, while nobody was there\n"
    tab.errors[:] = [one for one in tab.errors if "Failed to fetch" not in one]


def test_with_the_keyboard_alone(tab: Tab, web: Web) -> None:
    """From the skip link to a verdict, a hint and back: no mouse, and the editor is no trap."""
    page = tab.page
    page.reload()
    page.wait_for_selector("main h1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    tab.reach("#course a[data-kata=second]")
    page.keyboard.press("Enter")
    page.wait_for_selector(".head code:text-is('second')")
    tab.reach(".begin button")
    page.keyboard.press("Enter")
    page.wait_for_selector(".cm-editor.cm-focused")
    page.keyboard.press("Control+a")
    page.keyboard.type("fail: cause")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("x = 1")
    page.keyboard.press("Control+Enter")
    tab.judged()
    page.keyboard.press("F8")
    assert tab.text().split("\n")[1].startswith("    x = 1")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.classList.contains('cm-content')")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    for _ in range(12):
        if page.evaluate("document.activeElement.matches('[role=tab]')"):
            break
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "Hints"
    tab.reach(".panel button")
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel >> text=Think.")


def test_a_narrow_dark_chinese_page(tab: Tab, english) -> None:
    """400 pixels wide nothing is scrolled sideways; each sentence is Chinese; the colours are those of the system."""
    page = tab.page
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 400, "height": 850})
    page.select_option(".bar select", "zh")
    page.wait_for_selector("text=课程")
    tab.begin("second")
    tab.write("fail: cause\n" + "x = " + "1234567890" * 12 + "\n")
    tab.grade()
    for name in ("题目", "提示", "历史", "参考答案", "问答"):
        page.click(f"role=tab[name='{name}']")
        page.wait_for_selector(f"role=tab[name='{name}'][selected=true]")
        assert tab.is_as_wide_as_the_window(), name
    page.click("role=tab[name='题目']")
    tab.shoot("narrow-dark-chinese")
    page.evaluate("document.querySelector('.verdict').scrollIntoView()")
    tab.shoot("narrow-dark-chinese-verdict")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 28)"
    own = page.locator(".bar, .tabs, .tools, .keys, .head, #course, .saved")
    assert [text for text in own.all_inner_texts() if english(text)] == []
    page.click(".burger")
    page.wait_for_selector("#course.open")
    assert tab.is_as_wide_as_the_window()
    page.go_back()


def test_what_a_learner_wrote_is_text(tab: Tab, web: Web, monkeypatch) -> None:
    """In the editor, the verdict, the history and the text of another editor: nothing of it is HTML."""
    monkeypatch.setitem(web.tool.driver.FAILING[1], "printed", NASTY)
    page = tab.page
    tab.begin("second")
    tab.write(f"fail {NASTY}\n")
    tab.grade()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert NASTY in page.inner_text(".verdict")
    page.click("role=tab[name='History']")
    page.click("text=Version 1")
    page.wait_for_selector(".panel pre")
    assert NASTY in page.inner_text(".panel pre")
    assert page.locator("img, main script").count() == 0
    assert "run" not in page.title()


@needs_axe
@pytest.mark.parametrize(("scheme", "lang"), [("light", "en"), ("dark", "zh")])
def test_no_barriers(tab: Tab, web: Web, scheme, lang) -> None:
    """Axe finds nothing serious: on the task, a failure, a pass, the talk, a mock interview, wide and narrow."""
    page = tab.page
    page.emulate_media(color_scheme=scheme)
    page.select_option(".bar select", lang)
    page.wait_for_function("lang => document.documentElement.lang.startsWith(lang)", arg=lang)
    page.wait_for_selector("main h1")
    found = {"before": tab.barriers()}
    tab.begin("second")
    tab.write("fail: cause\nx = 1\n")
    tab.grade()
    page.keyboard.press("F8")
    found["failed"] = tab.barriers()
    web.tool.answer("fail, elsewhere\n")
    page.wait_for_selector(".cm-line:has-text('elsewhere')")
    page.keyboard.press("Escape")
    tab.write("pass\n")
    tab.grade()
    page.wait_for_selector(".after button[aria-pressed=true]")
    found["passed"] = tab.barriers()
    page.set_viewport_size({"width": 400, "height": 850})
    page.click(".burger")
    found["narrow"] = tab.barriers()
    for at, name in enumerate(("hints", "talk", "history", "solution"), 1):
        page.click(f"#tab-{name}")
        page.wait_for_selector(f".panel[aria-labelledby=tab-{name}] > *")
        found[f"panel {at}"] = tab.barriers()
    tab.go("mock")
    page.wait_for_selector("form")
    found["mock"] = tab.barriers()
    page.click("form button")
    page.wait_for_selector(".mockbar")
    found["mock runs"] = tab.barriers()
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_a_real_grading_and_a_server_that_is_killed(window: Any, real: Any) -> None:
    """The first verdict comes from a real judge; where its server is killed, the next one comes all the same."""
    environment = {"KATA_SERVER": ""}
    running = real.process("web", "--no-browser", environment=environment)
    try:
        link = running.stdout.readline().split()[-1]
        tab = Tab(window.new_page(), link).open()
        tab.page.set_default_timeout(90_000)
        tab.begin("double")
        tab.write("def double(x):\n    return x + 1\n")
        tab.grade()
        assert "✗" in tab.page.inner_text(".verdict h2")
        tab.page.click("role=tab[name='Picture']")
        tab.page.click("text=Draw it")
        tab.page.wait_for_selector(".drawings svg rect.cell")
        assert tab.violations() == []
        servers = json.loads(real("server", "status", "--json", environment=environment).stdout)["servers"]
        for server in servers:
            os.kill(server["pid"], signal.SIGKILL)
        tab.write("def double(x):\n    return 2 * x\n")
        tab.grade()
        tab.judged("6 of 7 cases pass")
        assert tab.errors == []
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
        real("server", "stop", environment=environment)
    assert running.returncode == 0
