"""English texts: who is in them, what they wear, where it plays, who is seen."""

import pathlib

import pytest

from mangen.comic import attire, cast, phrases, scenery, voicing

TEXTS = pathlib.Path(__file__).parent / "english"


@pytest.fixture(scope="module")
def staged(boards):
    return {
        path.stem: boards.of(path.read_text("utf-8"))[1] for path in sorted(TEXTS.glob("*.txt"))
    }


@pytest.mark.parametrize(
    ("text", "name", "sheet"),
    [
        ("mystery", "Mr. Graves", ("male", "elder", {"black frock coat", "silver spectacles"})),
        ("mystery", "Eliza", ("female", "youth", {"dark green cloak", "tall"})),
        ("mystery", "Ellen", ("female", "youth", {"grey shawl"})),
        ("mystery", "Inspector Lestrade", ("male", "adult", {"red moustache", "stout"})),
        ("mystery", "lamplighter", ("male", "elder", {"white beard", "cap"})),
        ("town", "Nora", ("female", "child", {"yellow raincoat", "red rubber boots"})),
        ("town", "Tom", ("male", "youth", {"red scarf"})),
        ("town", "Mr. Okafor", ("male", "elder", {"grey overalls"})),
        ("town", "Mrs. Alvarez", ("female", "adult", {"blue apron", "bun", "plump"})),
        ("tale", "Wren", ("female", "child", {"long hair", "red hair", "red hood"})),
        ("tale", "witch", ("female", "elder", {"hooked nose", "black hat"})),
        ("tale", "king", ("male", "adult", {"golden crown"})),
        ("sea", "Captain Hargrave", ("male", "adult", {"black beard", "blue coat", "burly"})),
        ("sea", "Old Ned", ("male", "elder", {"white hair"})),
        ("sea", "Grace", ("female", "adult", {"white dress"})),
        ("sea", "father", ("male", "elder", {"yellow oilskin"})),
        ("sea", "I", ("male", "youth", set())),
        ("space", "Reyes", ("female", "adult", {"white suit"})),
        ("space", "Lin", ("male", "adult", {"black glasses", "grey uniform", "slim"})),
        ("space", "Mika", ("female", "youth", {"short hair", "pink hair"})),
        ("harbour", "grandfather", ("male", "elder", {"cane"})),
        ("harbour", "Miss Pym", ("female", "youth", {"long black dress", "gold glasses"})),
        ("harbour", "Samuel", ("male", "youth", {"blue jersey"})),
        ("harbour", "Lucy Marsh", ("female", "youth", {"two brown braids"})),
        ("harbour", "little boy", ("male", "child", {"white clothes"})),
        ("harbour", "I", ("male", "child", set())),
        ("noir", "Vivian Sterling", ("female", "adult", {"black silk dress"})),
        ("noir", "butler", ("male", "elder", {"white jacket"})),
        ("noir", "Carla", ("female", "youth", {"red sweater"})),
    ],
)
def test_a_sheet_is_what_the_text_says(staged, text, name, sheet):
    sex, age, words = sheet
    found = next(c for c in staged[text].characters if c.name == name)
    assert (found.sex, found.age) == (sex, age)
    assert words <= set(found.words)
    assert words or not found.words


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("mystery", {"first constable", "second constable"}),
        ("town", {"father"}),
        ("tale", {"woodcutter", "captain"}),
        ("sea", set()),
    ],
)
def test_nobody_else_is_drawn(staged, text, others):
    told = {
        "mystery": {"Mr. Graves", "Eliza", "Ellen", "Inspector Lestrade", "lamplighter"},
        "town": {"Nora", "Tom", "Mr. Okafor", "Mrs. Alvarez"},
        "tale": {"Wren", "witch", "king"},
        "sea": {"Captain Hargrave", "Old Ned", "Grace", "father", "I"},
    }[text]
    assert {c.name for c in staged[text].characters} == told | others


@pytest.mark.parametrize(
    ("at", "people", "scene"),
    [
        ("mystery: hansom cab", ("Eliza",), ("street", "night", "fog", "victorian")),
        ("mystery: his cap", ("lamplighter", "Eliza"), ("street", "night", "fog", "victorian")),
        ("mystery: sat by the window", ("Ellen",), ("room", "night", "fog", "victorian")),
        ("mystery: turned white", ("Mr. Graves",), ("room", "night", "fog", "victorian")),
        ("mystery: The old man ran", ("Mr. Graves",), ("hall", "night", "fog", "victorian")),
        ("town: They stopped", ("Nora", "Tom"), ("shop", "day", "rain", "modern")),
        ("town: They ran", ("Nora", "Tom"), ("classroom", "day", "rain", "modern")),
        ("town: phone rang", (), ("shop", "day", "rain", "modern")),
        ("tale: daughter, Wren", ("woodcutter", "Wren"), ("forest", "day", "clear", "medieval")),
        ("tale: walked into the forest", ("Wren",), ("forest", "day", "snow", "medieval")),
        ("tale: riding by", ("king",), ("field", "day", "snow", "medieval")),
        ("tale: Her father ate", ("woodcutter", "Wren"), ("room", "day", "snow", "medieval")),
        ("sea: seized the wheel", ("Captain Hargrave",), ("deck", "night", "thunder", "victorian")),
        ("sea: Ned was gone", (), ("deck", "night", "thunder", "victorian")),
        ("sea: bending over me", ("Grace", "I"), ("sea", "day", "clear", "victorian")),
        ("sea: yellow oilskin", ("Grace", "father"), ("sea", "day", "clear", "victorian")),
        ("space: rushed to the bridge", ("Reyes",), ("spaceship", "day", "clear", "future")),
        ("space: forced the door", ("Lin", "Reyes"), ("spaceship", "day", "clear", "future")),
        ("noir: phone rang", (), ("room", "night", "clear", "modern")),
        ("noir: Sterling house", (), ("mountain", "night", "rain", "modern")),
        ("noir: standing by", ("Vivian Sterling",), ("room", "night", "rain", "modern")),
        ("noir: front of her", ("I", "Carla"), ("room", "night", "rain", "modern")),
        ("harbour: kept a child", ("grandfather",), ("room", "day", "clear", "victorian")),
        ("harbour: desk by the window", (), ("classroom", "day", "clear", "victorian")),
        ("harbour: ran down to", ("I",), ("harbour", "day", "wind", "victorian")),
        ("harbour: we ran all the way", ("I", "Samuel"), ("room", "day", "wind", "victorian")),
    ],
)  # fmt: skip
def test_a_shot_shows_who_and_where(boards, staged, at, people, scene):
    text, words = at.split(": ")
    shot = next(
        shot for shot in boards.shots(staged[text]) if any(words in li.text for li in shot.lines)
    )
    labels = shot.scene
    assert shot.characters == people
    assert (labels.place, labels.time, labels.weather, labels.era) == scene


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mystery", {"You are late, Miss Thorne,": "Mr. Graves", "No!": "Ellen",
                     "Josiah Graves,": "Inspector Lestrade", "Number nine, miss?": "lamplighter"}),
        ("town", {"Not since breakfast, honey.": "Mrs. Alvarez", "Where are you two?": "father",
                  "Is this fellow yours?": "Mr. Okafor"}),
        ("tale", {"What do you want, child?": "witch", "Who is that girl?": "king",
                  "And what will you pay?": "witch"}),
        ("sea", {"Light ho!": "Old Ned", "Yes, sir,": "I", "None,": "father",
                 "Hard over, or we are lost!": "Captain Hargrave", "You are safe,": "Grace"}),
        ("space", {"Neither have you.": "Reyes", "Where is Mika?": "Reyes",
                   "I thought you would leave me,": "Mika"}),
        ("noir", {"My name is Vivian Sterling.": "Vivian Sterling", "Marlowe,": "I",
                  "Only the whisky,": "Vivian Sterling"}),
        ("harbour", {"That's your uncle Peter,": "grandfather", "A child in white,": "Samuel",
                     "Where is Samuel today?": "Miss Pym"}),
    ],
)  # fmt: skip
def test_lines_are_said_by_whom_they_are(boards, staged, text, said):
    found = {line.text: line.speaker for line in boards.lines(staged[text]) if line.quoted}
    assert {words: found[words] for words in said} == said


def test_action_shows_somebody_who_acts(boards, staged):
    acting = [
        shot
        for board in staged.values()
        for shot in boards.shots(board)
        if shot.scene.framing == "action"
    ]
    assert len(acting) >= 4
    for shot in acting:
        assert {"run", "strike"} & set(shot.gestures)


def test_age_changes_where_the_text_says_so(boards, staged):
    shot = boards.shots(staged["sea"])[-1]
    assert (shot.characters, shot.ages) == (("I",), ("elder",))


def test_no_memory_is_made_of_a_word(boards, staged):
    assert not any(shot.memory for board in staged.values() for shot in boards.shots(board))


def test_leads_have_voices_of_their_own_and_the_narrator_his(staged):
    for board in staged.values():
        voices = voicing.cast(board, zh="zm_yunyang", en="bm_george")
        heard = [voices.of(character) for character in board.characters]
        assert len({(one.name, one.pitch, one.speed) for one in heard}) == len(heard)
        assert not any(one.name == "bm_george" and abs(one.pitch - 1) < 0.05 for one in heard)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("The keeper's daughter sat.", [("daughter", "female", "youth", True)]),
        ("An old man with a cane came.", [("man", "male", "elder", False)]),
        ("She was a tall young woman.", [("woman", "female", "youth", None)]),
        ("He looked like a king.", []),
        ("A woman's voice called.", []),
        ("Behind her an old man stood.", [("man", "male", "elder", False)]),
    ],
)
def test_phrases_stand_for_people(words, found):
    seen = [
        (one.noun, one.sex, one.age, None if one.told else one.definite)
        for one in phrases.find(words)
        if not one.own and not one.away
    ]
    assert seen == found


@pytest.mark.parametrize(
    ("words", "mentions", "told"),
    [
        ("She wore a red hat.", [(0, "Ann")], [("Ann", ("red hat",))]),
        ("He took off his hat.", [(0, "Bob")], []),
        ("Ann saw Bob in his grey coat.", [(0, "Ann"), (8, "Bob")], [("Bob", ("grey coat",))]),
        ("The witch cut the red hair.", [(4, "witch")], []),
        ("He was sixty.", [(0, "Bob")], [("Bob", ())]),
    ],
)
def test_clothes_are_whose_they_are(words, mentions, told):
    sexes = {"Ann": "female", "Bob": "male", "witch": "female"}
    found = attire.told(words, mentions, (), sexes)
    assert [(one.name, one.looks) for one in found if one.looks or one.age] == told


def test_names_are_one_however_they_are_said():
    narration = [
        "Miss Eliza Thorne came in. “” said Eliza. “” said Mr. Thorne, her father. Snow fell."
    ]
    text = (
        "Miss Eliza Thorne came in. “Hm,” said Eliza. “Miss Thorne!” said Mr. Thorne, her father."
    )
    found = cast.find(narration, ["Hm,", "Miss Thorne!"], text, "en")
    assert {name: p.sex for name, p in found.people.items()} == {
        "Miss Eliza Thorne": "female",
        "Mr. Thorne": "male",
    }
    assert {found.aliases[way] for way in ("Eliza", "Miss Thorne")} == {"Miss Eliza Thorne"}
    assert found.roles["father"] == "Mr. Thorne"


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("She rose from his bed.", ("room", True)),
        ("A bed is a good thing.", ("room", False)),
        ("He ran home.", ("room", True)),
        ("He had a photograph of a castle.", (None, False)),
        ("They came to the quay.", ("harbour", True)),
    ],
)
def test_a_place_is_where_somebody_is(words, place):
    seen = scenery.look(words, (), "en")
    assert (seen.place, seen.place_is_sure) == place
