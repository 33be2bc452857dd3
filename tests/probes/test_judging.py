"""What the traffic with the host amounts to: failures, remarks, nothing."""

from __future__ import annotations

import math

import pytest

from grader.probes.simdevice import Event, judge_events


def event(kind, shape=(), line=7, *, excused=False):
    """Return an event with the size of its shape."""
    return Event(kind, "op", shape, math.prod(shape), line, excused)


@pytest.mark.parametrize(
    ("given", "failures", "remarks"),
    [
        (event("d2h", (2, 3)), 1, 0),
        (event("d2h", (1,)), 0, 1),
        (event("d2h"), 0, 1),
        (event("item"), 0, 1),
        (event("h2d", (4, 4)), 0, 1),
        (event("h2d"), 0, 0),
        (event("h2d", (0, 4)), 0, 0),
        (event("sync", (4, 4)), 0, 1),
        (event("d2h", (2, 3), excused=True), 0, 0),
        (event("item", excused=True), 0, 0),
    ],
)
def test_one_event(given, failures, remarks):
    """Only a copy of more than one element to the host fails; what is excused and single numbers are free."""
    assert [len(found) for found in judge_events([given])] == [failures, remarks]


def test_events_of_a_line_are_one_finding():
    """A loop is one finding with its count and its largest copy; another line is another."""
    events = [event("d2h", (2,)), event("d2h", (3, 4)), event("d2h", (2,), line=9), event("item"), event("item")]
    failures, remarks = judge_events(events)
    assert [(found.line, found.count, found.shape) for found in failures] == [(7, 2, (3, 4)), (9, 1, (2,))]
    assert [(found.kind, found.count) for found in remarks] == [("item", 2)]
    assert "(3, 4)" in failures[0].message


def test_nothing_happened():
    """No events, no findings."""
    assert judge_events([]) == ([], [])
