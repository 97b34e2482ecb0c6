"""The course in docs/learn: its blocks run and print what the pages say, and what is written from it is up to date."""
import functools
import json
import re

import pytest

from tests import learn

TEXTS = {page.stem: page.read_text(encoding="utf-8") for page in learn.CHAPTERS}


@functools.cache
def namespace(name):
    return learn.run(TEXTS[name], f"{name}.md")


def test_there_are_eight_chapters_and_each_is_on_the_site():
    navigation = (learn.ROOT / ".ci/site/mkdocs.yml").read_text(encoding="utf-8")
    index = (learn.FOLDER / "index.md").read_text(encoding="utf-8")
    assert [name[0] for name in TEXTS] == list("12345678")
    assert all([f"learn/{name}.md" in navigation and f"]({name}.md)" in index for name in TEXTS])
    assert "learn/index.md" in navigation
    assert "](docs/learn/index.md)" in (learn.ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TEXTS)
def test_blocks_run_and_print_what_the_page_says(name):
    namespace(name)
    assert len(learn.blocks(TEXTS[name])) > 5


@pytest.mark.parametrize("name", TEXTS)
def test_each_exercise_has_an_answer_that_is_a_test(name):
    _, exercises, answers = re.split(r"^## (?:Exercises|Answers)$", TEXTS[name], flags=re.M)
    answers = answers.partition("\n## ")[0]
    numbers = re.findall(r"^(\d)\. ", exercises, re.M)
    said = re.split(r"^\*\*Answer (\d)\.\*\*", answers, flags=re.M)
    assert numbers in (["1", "2"], ["1", "2", "3"]) and said[1::2] == numbers
    for answer in said[2::2]:
        assert any(["assert " in block.code or "raise AssertionError" in block.code for block in learn.blocks(answer)])


@pytest.mark.parametrize("name", TEXTS)
def test_notebooks_hold_the_same_cells(name):
    written = (learn.FOLDER / f"{name}.ipynb").read_text(encoding="utf-8")
    assert written == learn.notebook(TEXTS[name]), "run python -m tests.learn"
    whole = json.loads(written)
    assert (whole["nbformat"], whole["nbformat_minor"]) == (4, 5)
    code = ["".join(cell["source"]) + "\n" for cell in whole["cells"] if cell["cell_type"] == "code"]
    assert code == [block.code for block in learn.blocks(TEXTS[name])]
    assert len({cell["id"] for cell in whole["cells"]}) == len(whole["cells"])


def test_the_package_is_that_of_the_chapters():
    written = {path.relative_to(learn.FOLDER).as_posix(): path.read_text(encoding="utf-8")
               for path in (learn.FOLDER / "tiny").glob("*.py")}
    assert written == learn.package(), "run python -m tests.learn"
    assert len(written["tiny/number.py"].splitlines()) < 100
    assert len(written) > 6


@pytest.mark.parametrize("name", TEXTS)
def test_pictures_are_those_of_the_graphs_in_the_blocks(name):
    pytest.importorskip("igraph", reason="pictures need the extra viz")
    drawn = learn.pictures(TEXTS[name], namespace(name))
    assert drawn
    for file, svg in drawn.items():
        assert (learn.FOLDER / file).read_text(encoding="utf-8") == svg, "run python -m tests.learn"


def test_no_picture_is_left_over():
    shown = {f"{name}.svg" for text in TEXTS.values() for name in re.findall(r"\]\((\w+)\.svg\)", text)}
    assert {path.name for path in learn.FOLDER.glob("*.svg")} == shown


def test_quotations_are_lines_of_the_files():
    assert learn.check_quotes(TEXTS["8_library"]) > 15
    named = re.findall(r"^\| .* \| \d \| (.*) \|$", TEXTS["8_library"], re.M)
    count = 0
    for row in named:
        for names, path in re.findall(r"((?:`[\w.]+`(?:, | and )?)+) in `([\w/.]+)`", row):
            for name in re.findall(r"`([\w.]+)`", names):
                learn.function_text(f"tinytorch/{path}", name)
                count += 1
    assert count > 15


# ------------------------------------------------------------------ what the tests above rely on
def test_output_that_differs_is_found():
    page = "text\n\n```python\nx = 1\nprint(x, 'and', 2)\n```\n```text\n{}\n```\n\nmore\n"
    assert learn.run(page.format("1 and 2"))["x"] == 1 and learn.run(page.format("1 ... 2"))
    for wrong in ("1 and 3", "", "1 and 2\nmore"):
        with pytest.raises(AssertionError, match="page, line 4: the block prints"):
            learn.run(page.format(wrong))
    with pytest.raises(AssertionError, match="line 2"):
        learn.run("```python\nprint(1)\n```\n")
    with pytest.raises(ZeroDivisionError):
        learn.run("```python\n1 / 0\n```\n")


def test_quotations_that_are_stale_are_found():
    quoted = "```py\n# tests/learn.py, {}\n{}\n```\n"
    assert learn.check_quotes(quoted.format("blocks", "def blocks(text: str) -> list[Block]:")) == 1
    assert learn.check_quotes(quoted.format("package", "def package() -> dict[str, str]:\n...\n    return {path:"
                                            ' "\\n\\n".join(found) for path, found in parts.items()}')) == 1
    with pytest.raises(AssertionError, match="has not"):
        learn.check_quotes(quoted.format("blocks", "def blocks(page):"))
    with pytest.raises(AssertionError, match="has not"):
        learn.check_quotes(quoted.format("package", "for page in CHAPTERS:\n...\ndef package() -> dict[str, str]:"))
    with pytest.raises(LookupError, match="has no nothing"):
        learn.check_quotes(quoted.format("nothing", "def blocks(page):"))
    with pytest.raises(LookupError, match="has no Block.nothing"):
        learn.check_quotes(quoted.format("Block.nothing", "def blocks(page):"))
