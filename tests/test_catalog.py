"""The katas on disk: found, validated, ordered."""

from pathlib import Path

import pytest

from grader import catalog, pages
from grader.errors import BadKataFile, UnknownKata

GOOD = {
    "title": '{ en = "Multi-head attention", zh = "多头注意力" }',
    "track": "2",
    "order": "20",
    "difficulty": "3",
    "minutes": "25",
    "entry": '["MultiHeadAttention"]',
    "needs": '["sdpa"]',
    "tags": '["attention"]',
    "families": '["core", "mask"]',
    "forbidden": '["torch.softmax"]',
    "allowed": "[]",
}


def write(root: Path, kata_id: str, **changes: str | None) -> Path:
    """Write a kata.toml with some keys changed, or left out where the change is None."""
    folder = root / "katas" / kata_id
    folder.mkdir(parents=True)
    values = {key: value for key, value in (GOOD | changes).items() if value is not None}
    (folder / "kata.toml").write_text("\n".join(f"{key} = {value}" for key, value in values.items()), encoding="utf-8")
    return folder


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Return an empty folder of content."""
    monkeypatch.setattr(catalog, "content_root", lambda: tmp_path)
    return tmp_path


def test_a_kata_is_read(root):
    """Every key has its field, with the times that hold where none are given."""
    folder = write(root, "mha")
    kata = catalog.find("mha")
    assert kata == catalog.Kata(
        id="mha",
        title={"en": "Multi-head attention", "zh": "多头注意力"},
        track=2,
        order=20,
        difficulty=3,
        minutes=25,
        entry=("MultiHeadAttention",),
        needs=("sdpa",),
        tags=("attention",),
        families=("core", "mask"),
        forbidden=("torch.softmax",),
        allowed=(),
        call_seconds=10,
        grading_seconds=60,
        folder=folder,
        solution=root / "solutions" / "mha",
    )


def test_the_course_is_in_order(root):
    """Track, then order, then name; a folder without kata.toml is none."""
    write(root, "last", track="6")
    write(root, "late", track="5")
    write(root, "b", order="10")
    write(root, "a", order="10")
    write(root, "early", track="1", order="99")
    (root / "katas" / "__pycache__").mkdir()
    assert list(catalog.katas()) == ["early", "a", "b", "late", "last"]


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("minutes", None, "is missing"),
        ("minutes", '"25"', "must be a whole number from 1"),
        ("minutes", "2.5", "must be a whole number"),
        ("track", "7", "from 1 to 6"),
        ("difficulty", "true", "must be a whole number"),
        ("entry", "[]", "must not be empty"),
        ("entry", '["not a name"]', "'not a name' is not a Python name"),
        ("entry", '"MultiHeadAttention"', "must be a list"),
        ("families", '["core", "speed"]', "'speed' is not one of core mask"),
        ("families", '["core", "core"]', "names something twice"),
        ("needs", '["SDPA"]', "is not the id of a kata"),
        ("forbidden", "[1]", "1 is not a dotted name"),
        ("title", '"Attention"', "needs the two languages"),
        ("title", '{ en = "Attention" }', "needs the two languages"),
        ("bugs", "0", "must be a whole number from 1 to 9"),
        ("bugs", '"4"', "must be a whole number"),
        ("call_seconds", "0", "above 0"),
        ("call_seconds", "inf", "above 0"),
        ("grading_seconds", '"long"', "must be a number of seconds"),
        ("colour", '"red"', "is not a key of kata.toml; the keys are title, track"),
    ],
)
def test_a_wrong_key_is_named_with_its_file(root, key, value, problem):
    """A person who writes a kata reads which file, which key and what is wrong."""
    folder = write(root, "mha", **{key: value})
    with pytest.raises(BadKataFile) as raised:
        catalog.katas()
    assert (raised.value.file, raised.value.key) == (folder / "kata.toml", key)
    assert problem in raised.value.message


def test_a_kata_says_how_many_mistakes_a_debug_round_plants(root):
    """One, unless kata.toml says otherwise."""
    write(root, "mha")
    write(root, "tiny-gpt", bugs="4")
    assert [kata.bugs for kata in catalog.katas().values()] == [1, 4]


def test_the_names_of_a_kata_and_of_its_debug_rounds():
    """They are told apart wherever one may stand for the other: files, history, command line."""
    name = catalog.debug_round("masked-softmax")
    assert catalog.filename("masked-softmax") == "masked_softmax.py"
    assert catalog.filename(name) == "masked_softmax_debug.py"
    assert (catalog.kata_of(name), catalog.kata_of("mha")) == ("masked-softmax", "mha")
    assert (catalog.typed(name), catalog.typed("mha")) == ("masked-softmax --debug", "mha")
    assert catalog.is_debug_round(name)
    assert not catalog.is_debug_round("masked-softmax")
    assert not catalog.exists(name)


def test_an_empty_title_is_named_by_its_language(root):
    """Both languages need words."""
    write(root, "mha", title='{ en = "Attention", zh = " " }')
    with pytest.raises(BadKataFile, match=r"title\.zh"):
        catalog.katas()


@pytest.mark.parametrize("data", [b"title = [", b"title = '\xff'"])
def test_a_file_that_is_no_toml(root, data):
    """A syntax error or a wrong encoding is told with the file's name."""
    folder = write(root, "mha")
    (folder / "kata.toml").write_bytes(data)
    with pytest.raises(BadKataFile, match=r"kata\.toml"):
        catalog.katas()


def test_a_folder_with_a_wrong_name(root):
    """The id of a kata is lower-case words joined by hyphens."""
    write(root, "Multi_Head")
    with pytest.raises(BadKataFile, match="no kata id"):
        catalog.katas()


@pytest.mark.parametrize("name", ["masked-softmax", "masked_softmax", "masked softmax", "Masked_Softmax.py"])
def test_a_kata_is_found_by_the_names_people_type(root, name):
    """Id, file name and capital letters all do."""
    write(root, "masked-softmax")
    assert catalog.find(name).id == "masked-softmax"


@pytest.mark.parametrize(
    ("name", "suggestions"),
    [("mah", ("mha",)), ("multi-head", ("mha",)), ("multihead attention", ("mha",)), ("多头", ("mha",)), ("zzz", ())],
)
def test_an_unknown_kata_gets_suggestions(root, name, suggestions):
    """Close names, and names whose title holds the word."""
    write(root, "mha")
    with pytest.raises(UnknownKata) as raised:
        catalog.find(name)
    assert raised.value.suggestions == suggestions
    assert raised.value.exit_code == 2


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("multi-head attention", "mha"),
        ("MultiHeadAttention", "mha"),
        ("multihead", "mha"),
        ("mqa", "gqa"),
        ("multi-query", "gqa"),
        ("gpt", "tiny-gpt"),
        ("causal", "masks"),
        ("softmax", "masked-softmax"),
        ("nucleus", "top-p"),
        ("kv", "kv-cache"),
        ("rotary", "rope"),
        ("掩码", "masked-softmax"),
        ("lora2", "lora"),
    ],
)
def test_names_of_the_field_lead_to_a_kata(name, first):
    """What people call it in a paper or in an interview: title, class, tag, in both languages, and slips."""
    with pytest.raises(UnknownKata) as raised:
        catalog.find(name)
    assert raised.value.suggestions[0] == first


@pytest.mark.parametrize("name", ["../katas/mha", "mha/", "", ".", "MHA"])
def test_exists_takes_an_exact_id_only(root, name):
    """No path and no other spelling is the id of a kata."""
    write(root, "mha")
    assert catalog.exists("mha")
    assert not catalog.exists(name)


def test_texts_in_the_language_asked_for(root):
    """A missing translation gives the English text, a missing English text is an error that names it."""
    folder = write(root, "mha")
    (folder / "brief.md").write_text("in English")
    (folder / "hints.md").write_text("## A\n\none\n\n## B\n\ntwo\n")
    (folder / "hints.zh.md").write_text("## 甲\n\n一\n")
    kata = catalog.find("mha")
    assert kata.brief("zh") == "in English"
    assert kata.hints("en") == [("A", "one"), ("B", "two")]
    assert kata.hints("zh") == [("甲", "一")]
    with pytest.raises(BadKataFile, match=r"stub\.py: is missing"):
        kata.stub()
    (folder / "hints.md").write_text("nothing here")
    with pytest.raises(BadKataFile, match="has no rung"):
        kata.hints("en")


def test_what_follows(root):
    """The next open kata whose needs are passed, then the first open one, then none."""
    write(root, "a", track="1", needs="[]")
    write(root, "b", track="2", needs='["a"]')
    write(root, "c", track="3", needs='["b", "not-written-yet"]')
    assert catalog.following(set()).id == "a"
    assert catalog.following({"a"}, after="a").id == "b"
    assert catalog.following({"b"}, after="b").id == "c"
    assert catalog.following({"c"}, after="c").id == "a"
    assert catalog.following({"a", "b", "c"}) is None


def test_the_katas_of_the_project_are_valid():
    """Every kata.toml in the repository holds to the rules."""
    found = catalog.katas()
    assert found
    assert all(kata.solution.is_dir() for kata in found.values())


@pytest.mark.parametrize("name", catalog.katas())
def test_hints_and_questions_are_the_same_in_both_languages(name):
    """Each rung and each question is there in both languages, and the last rung says that it is the last."""
    kata = catalog.find(name)
    english, chinese = kata.hints("en"), kata.hints("zh")
    assert len(english) == len(chinese)
    assert "· Last hint" in english[-1][0]
    assert "· 最后一个提示" in chinese[-1][0]
    assert not any("Last hint" in heading for heading, _ in english[:-1])
    questions = [pages.questions(kata.talk(lang)) for lang in ("en", "zh")]
    bold = [line for line in kata.talk("en").splitlines() if line.startswith("**")]
    ids = [[one.id for one in asked] for asked in questions]
    assert ids[0] == ids[1]
    assert len(set(ids[0]) - {""}) == len(bold) > 3
    assert all(one.answer for asked in questions for one in asked)
    assert questions[0] != questions[1]
