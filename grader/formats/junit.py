"""JUnit's XML, as junit-10.xsd of Jenkins' xUnit plugin has it."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from grader.formats.rows import MOST_TEXT, Report, Row, explanation, rows
from grader.language import _
from grader.text import clean


def junit(reports: Iterable[Report], points: int, *, explain: bool) -> str:
    """Return a suite for each report, with a test for each row; an error of the grader is an error, and no failure."""
    root = ET.Element("testsuites", name="kata")
    for report in reports:
        _suite(root, report, points, explain=explain)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(root: ET.Element, report: Report, points: int, *, explain: bool) -> None:
    name = clean(report["file"], 500)
    broken = report["verdict"] == "error"
    tests = [] if broken else rows(report, points)
    suite = ET.SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(len(tests) or 1),
        failures=str(sum(not row.passed for row in tests)),
        errors=str(int(broken)),
        time=f"{report['seconds']:.3f}",
    )
    properties = ET.SubElement(suite, "properties")
    known = {"kata": report["kata"], "verdict": report["verdict"], "seed": report["seed"], "device": report["device"]}
    for key, value in (known | {"sandbox_gaps": "; ".join(report["sandbox_gaps"])}).items():
        if value is None:  # no seed: nothing was graded
            continue
        ET.SubElement(properties, "property", name=key, value=clean(str(value), 500))
    for row in tests:
        _test(suite, report["kata"], row)
    if broken:
        test = ET.SubElement(suite, "testcase", name="kata", classname=report["kata"])
        message = _("The grader itself failed, not your answer.")
        error = ET.SubElement(test, "error", type="grader", message=message)
        error.text = clean(report["message"], MOST_TEXT)
    elif explain and (text := explanation(report)):
        ET.SubElement(suite, "system-out").text = text


def _test(suite: ET.Element, kata: str, row: Row) -> None:
    test = ET.SubElement(suite, "testcase", name=row.name, classname=kata, time=f"{row.seconds:.3f}")
    if not row.passed:
        kind = "case" if row.is_case else "family"
        failure = ET.SubElement(test, "failure", type=kind, message=clean(row.brief, 300))
        failure.text = row.text
