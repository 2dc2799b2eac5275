"""Files in Windows-1252 are read as such; whatever could be something else is not."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.annotation import read_label_table
from ragstone.core.errors import DataError
from ragstone.data import read
from ragstone.data.text_files import words_of_windows
from ragstone.report.reason_words import explain

WESTERN = {
    "English": "Don’t say “naïve” — the café’s owner, Mr. Müller, paid €5… and left.",
    "French": "« L’été dernier, à Noël, Zoé a vu l’œuvre du garçon où il était né. »",
    "capitals": "LIBERTÉ, “ÉGALITÉ”, FRATERNITÉ… «\xa0ÉTÉ\xa0» et «\xa0été\xa0»",
    "German": "„Spaß“ müsse sein, sagte der Bürgermeister von Köln – ’ne schöne Überraschung.",
    "Spanish": "¿Cuándo nació el niño? ¡Mañana! La 1.ª corazón, según él, fue más allá.",
    "Portuguese": "A educação não é só avançar: são lições à margem, três por mês.",
    "Italian": "Perché la città è più bella? Così sarà, però l’università è là.",
    "Dutch": "De financiële crisis: één idee, geëerd door coördinatie.",
    "Swedish": "Räksmörgås är gott på ön, sade åldermannen.",
    "Danish": "Rødgrød med fløde på en ø, sagde manden på åen.",
    "Icelandic": "Það er gott að sjá þig, sagði konan við ána í morgun.",
    "Finnish": "Hääyöaie on hyvä sää tänään, pöllö.",
    "signs": "§ 5: 20 °C ± 1 °C, ½ l, 3 × 4 m², © 2020, Acme® Foo™ • item",
    "quotes alone": "the ‘pier’ – 90 m",
}

OTHERS = {
    "cp1250": ["Příliš žluťoučký kůň úpěl ďábelské ódy.", "Zażółć gęślą jaźń, powiedział on.",
               "Várhelyi úr tűzőgépet kért az időjárás előtt, majd később őrült örömmel főzött."],
    "iso8859-2": ["Zażółć gęślą jaźń, powiedział.", "Řeka je hluboká, řekl kněz při večeři."],
    "cp1251": ["Какой длины пирс?", "Он сказал да."],
    "koi8-r": ["Какой длины пирс?"],
    "cp1253": ["Πόσο μακριά είναι η προβλήτα;"],
    "cp1254": ["Iğdır’ın dağları çok güzelmiş, şimdi gidiyoruz."],
    "cp1255": ["שלום עולם וברכה"],
    "cp1256": ["كم يبلغ طول الرصيف"],
    "cp1257": ["Glāžšķūņu rūķīši jautri dziedāja."],
    "cp874": ["ท่าเรือยาวเท่าไร"],
    "cp850": ["Il était déjà allé à la fête.", "El niño comió más rápido."],
    "cp437": ["Il était déjà allé à la fête."],
    "mac-roman": ["Il était déjà né, café à côté.", "Der Rat in Zürich tagte über Köln."],
    "shift-jis": ["桟橋の長さはどれくらいですか。"],
    "euc-jp": ["桟橋の長さはどれくらいですか。"],
    "gbk": ["码头有多长？它长九十米。"],
    "big5": ["碼頭有多長？它長九十米。"],
    "euc-kr": ["부두의 길이는 얼마입니까?"],
}  # fmt: skip


@pytest.mark.parametrize("language", WESTERN)
def test_a_text_of_western_europe_is_taken_as_it_is(language: str) -> None:
    assert words_of_windows([WESTERN[language].encode("cp1252")]) is not None


@pytest.mark.parametrize(
    ("encoding", "text"), [(code, text) for code, texts in OTHERS.items() for text in texts]
)
def test_a_text_in_another_encoding_is_not_taken(encoding: str, text: str) -> None:
    assert words_of_windows([text.encode(encoding)]) is None


@pytest.mark.parametrize("text", [*WESTERN.values(), "Ünïcödé “Wörds”", "Это", "日本", "ąęł są."])
def test_what_is_utf8_in_part_is_not_taken(text: str) -> None:
    assert words_of_windows([b"caf\xe9\n" * 999, f"{text}\n".encode()]) is None


@pytest.mark.parametrize("byte", [0x00, 0x07, 0x1A, 0x81, 0x8D, 0x8F, 0x90, 0x9D])
def test_a_byte_that_windows_has_no_character_for_is_not_taken(byte: int) -> None:
    assert words_of_windows([b"caf\xe9 ", bytes([byte])]) is None


def test_a_misprint_among_many_words_does_not_matter() -> None:
    text = "Zürich, Köln, Überlingen. " * 20
    assert words_of_windows([f"{text} Kö¿n".encode("cp1252")]) is not None
    assert words_of_windows(["Zürich, Kö¿n".encode("cp1252")]) is None


def test_foreign_names_in_english_need_no_language() -> None:
    text = "The prize of that year went to two men who had never met before. " * 20
    assert words_of_windows([f"{text} Dvoøák, Åse, Íñigo.".encode("cp1252")]) is not None
    assert words_of_windows(["Dvoøák, Åse, Íñigo.".encode("cp1252")]) is None


def test_the_words_that_are_shown_are_few_short_and_hold_letters() -> None:
    text = f"– café éé{'x' * 50} naïve Zürich Köln"
    words = words_of_windows([text.encode("cp1252")])
    assert words == ("café", "éé" + "x" * 28, "naïve")


ROW: dict[str, Any] = {
    "question": "Où est né Rémi ?",
    "answer": "À Besançon.",
    "contexts": ["Rémi y est né."],
}
CSV = "question;answer;contexts\nOù est né Rémi ?;À Besançon.;Rémi y est né.\n"
FILES = {
    "a.csv": CSV,
    "a.tsv": CSV.replace(";", "\t"),
    "a.txt": CSV,
    "a.jsonl": json.dumps(ROW, ensure_ascii=False),
    "a.json": json.dumps([ROW], ensure_ascii=False, indent=1),
    "a.csv.gz": CSV,
}


def written(folder: Path, name: str, text: str, encoding: str = "cp1252") -> Path:
    raw = text.encode(encoding)
    (folder / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return folder / name


@pytest.mark.parametrize("name", FILES)
def test_a_file_in_windows_1252_is_read_with_a_note_that_shows_its_words(
    name: str, tmp_path: Path
) -> None:
    examples = read(written(tmp_path, name, FILES[name]))
    for _ in range(2):
        (example,) = examples
        assert (example.question, example.answer) == (ROW["question"], ROW["answer"])
        assert [context.text for context in example.contexts or ()] == ROW["contexts"]
        assert list(map(explain, examples.notes)) == [
            f"{name} is not in UTF-8. It was read as Windows-1252 (Western European): "
            "Où, né, Rémi. If these look wrong, save it as UTF-8."
        ]


@pytest.mark.parametrize("name", FILES)
def test_a_file_in_utf8_needs_no_note_of_it(name: str, tmp_path: Path) -> None:
    examples = read(written(tmp_path, name, FILES[name], "utf-8"))
    assert [one.answer for one in examples] == [ROW["answer"]]
    assert examples.notes == []


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
@pytest.mark.parametrize("encoding", ["cp1250", "cp1251", "gbk", "utf-16-le"])
def test_a_file_in_another_encoding_is_a_fault(name: str, encoding: str, tmp_path: Path) -> None:
    text = {"cp1250": "Zażółć gęślą jaźń", "cp1251": "Какой длины", "gbk": "码头有多长"}
    told = text.get(encoding, "Où est né Rémi ?")
    content = {"a.csv": f"answer,id\n{told},1\n", "a.jsonl": f'{{"answer": "{told}"}}\n',
               "a.json": f'[{{"answer": "{told}"}}]'}[name]  # fmt: skip
    with pytest.raises(DataError) as caught:
        list(read(written(tmp_path, name, content, encoding)))
    assert caught.value.faults[0].expected == "text in UTF-8"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
@pytest.mark.parametrize("first", ["utf-8", "cp1252"])
def test_a_file_in_both_is_a_fault_in_the_lines_that_are_not_utf8(
    first: str, ending: str, tmp_path: Path
) -> None:
    lines = {
        "csv": ["answer,id\n", "né,1\n", "été,2\n", ""],
        "jsonl": ["", '{"answer": "né"}\n', '{"answer": "été"}\n', ""],
        "json": ["[", '{"answer": "né"},\n', '{"answer": "été"}\n', "]"],
    }[ending]
    codes = ["ascii", first, "cp1252" if first == "utf-8" else "utf-8", "ascii"]
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"".join(line.encode(code) for line, code in zip(lines, codes, strict=True)))
    examples = read(path, skip_bad=True)
    assert [one.answer for one in examples] == ["né" if first == "utf-8" else "été"]
    assert examples.notes == []


def test_lines_before_the_first_accent_and_pieces_of_a_document_are_read_too(
    tmp_path: Path,
) -> None:
    plain = {"question": "q", "answer": "a" * 300}
    for count in (1, 2000):
        rows = [*[plain] * count, ROW, *[plain] * count, ROW]
        for name, text in (
            ("b.jsonl", "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)),
            ("b.json", json.dumps(rows, ensure_ascii=False)),
        ):
            answers = [one.answer for one in read(written(tmp_path, name, text))]
            assert answers == [row["answer"] for row in rows]


def test_runs_and_qrels_may_be_in_windows_1252(tmp_path: Path) -> None:
    run = written(tmp_path, "a.run", "q1 Q0 café 1 2.5 bm25\nq1 Q0 thé 2 1.5 bm25\n")
    qrels = written(tmp_path, "qrels.txt", "q1 0 thé 1\n")
    examples = read(run, qrels=qrels)
    (example,) = examples
    assert [context.id for context in example.contexts or ()] == ["café", "thé"]
    assert example.reference_contexts == {"thé": 1}
    assert sorted(explain(note).partition(" ")[0] for note in examples.notes) == [
        "a.run", "qrels.txt",
    ]  # fmt: skip


def test_labels_in_windows_1252_are_read_with_a_note(tmp_path: Path) -> None:
    path = written(tmp_path, "labels.csv", "id,annotator,helpful\nq1,Zoé,1\nq1,René,1\n")
    table = read_label_table(path)
    assert table.frame["annotator"].to_list() == ["Zoé", "René"]
    (note,) = table.notes
    assert explain(note).startswith("labels.csv is not in UTF-8. It was read as Windows-1252")
