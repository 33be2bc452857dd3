"""Training inside the sandbox: what the reference reaches, what an answer must not get away with, and its progress."""

from __future__ import annotations

import runpy

import pytest
import torch

from grader import catalog
from grader.client.session import Request, Session
from grader.judge.contract import SEED_OF_CALLS
from grader.judge.explain.mistakes import load
from grader.kit import corpus
from grader.sandbox.training import NoLossError, train
from tests import references

TRAINED = ("translate", "translate-rnn")
ONE_CASE = "learns to translate"
FLOOD = """
    def loss(self, src, tgt):
        import sys

        frame = sys._getframe()
        while "tell" not in frame.f_locals:
            frame = frame.f_back
        for _ in range(10_000):
            frame.f_locals["tell"](1, 2, 0.0)
        return self(src, tgt).sum()
"""


def in_its_group(test):
    """Let one worker do all that grades here: it has the server."""
    return pytest.mark.grades(pytest.mark.xdist_group("training")(test))


@pytest.fixture(autouse=True)
def marks_of_cases(pytestconfig: pytest.Config) -> None:
    """Cases may use their marks: the project's own tests refuse unknown ones."""
    for name in (*catalog.FAMILIES, "derive", "trains", "precise", "large"):
        pytestconfig.addinivalue_line("markers", f"{name}: see docs/writing-a-kata.md")


@pytest.fixture(autouse=True)
def one_thread():
    """Compute as a sandbox does; many threads are slower, too, on tensors this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def single():
    """A server whose judges grade once: others prepare whole gradings, and here a case or two are asked for."""
    with Session(keep=False) as session:
        yield session


@pytest.fixture
def grade(single: Session):
    """Return a function that grades an answer to `translate` on the training alone."""

    def grade(source: str, on_event=None, case: str = ONE_CASE):
        return single.grade(Request("translate", source, "translate.py", case=case, explained=False), on_event)

    return grade


def reference() -> str:
    """Return the model answer to `translate`."""
    return catalog.find("translate").reference()


def replaced(old: str, new: str) -> str:
    """Return it with one passage replaced."""
    text = reference()
    assert text.count(old) == 1
    return text.replace(old, new)


def mistake(name: str) -> str:
    """Return it with a mistake of the bank."""
    return next(m for m in load(catalog.find("translate")) if m.id == name).applied_to(reference())


@pytest.mark.one_of_many(of=4)
@pytest.mark.parametrize("kata", TRAINED)
def test_what_the_reference_reaches(kata: str) -> None:
    """The loss and the BLEU that the cases demand are those that the reference has after the same training."""
    found = catalog.find(kata)
    cases = runpy.run_path(str(found.solution / "cases.py"))
    pairs = cases["CORPUS"]
    torch.default_generator.manual_seed(SEED_OF_CALLS)
    translator = references.reference(kata).Translator
    model = translator(len(pairs.source_words), len(pairs.target_words), *cases["SIZES"]).double()
    order = pairs.batches(corpus.STEPS, corpus.BATCH)
    rates = corpus.rates(corpus.STEPS, cases["RATE"])
    train(list(model.parameters()), model.loss, (pairs.source, pairs.target), order, rates, lambda *_: None)
    written = model.translate(pairs.source, corpus.BOS, corpus.EOS, corpus.LONGEST)
    assert model.loss(pairs.source, pairs.target).item() == pytest.approx(cases["REACHED_LOSS"], rel=0.05)
    assert pairs.bleu(list(range(len(written))), written) == pytest.approx(cases["REACHED_BLEU"], abs=0.002)
    assert [pairs.target_words[i] for i in written[pairs.row("he's calm .")].tolist()][:5] == [
        "il",
        "est",
        "calme",
        ".",
        "<eos>",
    ]


def test_corpus() -> None:
    """About three hundred pairs, no source twice, the well-known four among them, none longer than the cases allow."""
    pairs = corpus.read("translate")
    assert 280 <= len(pairs.source) == len(pairs.target) <= 320
    assert len({tuple(row) for row in pairs.source.tolist()}) == len(pairs.source)
    expected = {
        "go .": "va !",
        "i lost .": "j'ai perdu .",
        "he's calm .": "il est calme .",
        "i'm home .": "je suis chez moi .",
    }
    for english, french in expected.items():
        ids = [i for i in pairs.target[pairs.row(english)].tolist() if i > corpus.EOS]
        assert " ".join(pairs.target_words[i] for i in ids) == french
    assert pairs.target.size(1) <= 10


@in_its_group
def test_progress_is_told(grade) -> None:
    """While it trains, the loss that falls is told."""
    events: list[dict] = []
    report = grade(reference(), events.append)
    assert report["verdict"] == "passed"
    told = [event for event in events if event["event"] == "training"]
    assert told[-1]["step"] == told[-1]["steps"] == 160
    assert told[0]["loss"] > 3
    assert told[-1]["loss"] < 0.1


@in_its_group
@pytest.mark.one_of_many(of=2)
@pytest.mark.parametrize("name", ["leaks-future-in-training", "ignores-source"])
def test_what_is_measured_is_the_reference(grade, name: str) -> None:
    """Whatever the answer's own loss is: what counts is the loss of the reference with the answer's parameters."""
    events: list[dict] = []
    report = grade(mistake(name), events.append)
    assert report["verdict"] == "failed"
    told = [event for event in events if event["event"] == "training"]
    assert told[-1]["loss"] < 1.5, "it did learn something"


@in_its_group
def test_nothing_is_trained_while_cases_fail(grade) -> None:
    """A quick case that fails says more than a training, and at once."""
    report = grade(mistake("loss-sum"), case="grad/")
    (training,) = [case for case in report["cases"] if ONE_CASE in case["title"]]
    assert report["verdict"] == "failed"
    assert (training["outcome"], training["message"]) == ("skipped", "nothing is trained before all other cases pass")


@in_its_group
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("/ is_real.sum()\n", "/ is_real.sum() * float('nan')\n", "is not finite"),
        ("/ is_real.sum()\n", "/ [][0]\n", "IndexError"),
        ("return surprise.masked_fill(~is_real, 0.0).sum() / is_real.sum()\n", "return 0.0\n", "loss returned a float"),
        (
            "return surprise.masked_fill(~is_real, 0.0).sum() / is_real.sum()\n",
            "return surprise\n",
            "a tensor of shape",
        ),
    ],
)
def test_losses_that_are_none(grade, old: str, new: str, says: str) -> None:
    """Each is the failure of the case, with a sentence that names it."""
    report = grade(replaced(old, new))
    (case,) = report["cases"]
    assert case["outcome"] == "failed"
    assert says in case["message"]


@in_its_group
def test_progress_without_end(grade) -> None:
    """Whoever floods the line that tells the progress is refused."""
    source = replaced(
        "    def loss(self, src: Tensor, tgt: Tensor) -> Tensor:\n",
        FLOOD.lstrip("\n") + "\n    def old_loss(self, src, tgt):\n",
    )
    (case,) = grade(source)["cases"]
    assert case["outcome"] == "crashed"
    assert "refuses" in case["message"]


@pytest.mark.parametrize(
    ("loss", "what"), [(0.5, "a float"), (torch.zeros(2), "a tensor of shape"), (torch.zeros(()), "without a gradient")]
)
def test_a_loss_is_a_scalar_with_a_gradient(loss, what: str) -> None:
    """Anything else is named."""
    weight = torch.nn.Parameter(torch.zeros(1))
    with pytest.raises(NoLossError, match=what):
        train([weight], lambda _: loss, (torch.zeros(1),), torch.zeros(1, 1).long(), torch.ones(1), lambda *_: None)


def test_adam_is_torchs() -> None:
    """The steps are those of torch.optim.Adam; a parameter that plays no part stays as it is."""
    torch.default_generator.manual_seed(1)
    start, data = torch.randn(3, 2).double(), torch.randn(8, 3).double()
    mine, theirs, idle = (torch.nn.Parameter(start.clone()) for _ in range(3))
    order = torch.arange(40).reshape(20, 2) % 8
    rates = torch.linspace(0.1, 0.01, 20)

    def loss_of(weight):
        return lambda rows: (rows @ weight).tanh().square().sum()

    train([mine, idle], loss_of(mine), (data,), order, rates, lambda *_: None)
    adam = torch.optim.Adam([theirs])
    for rows, rate in zip(order, rates.tolist(), strict=True):
        adam.param_groups[0]["lr"] = rate
        adam.zero_grad()
        loss_of(theirs)(data[rows]).backward()
        adam.step()
    assert torch.allclose(mine, theirs, rtol=1e-10, atol=1e-12)
    assert torch.equal(idle, start)
