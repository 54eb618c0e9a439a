"""The texts in a field of the records of a file: JSON, JSON Lines, and values between commas or tabs."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from oversmoothing.data.extensions import JSON, SEPARATORS, format_of
from oversmoothing.data.opened import BUFFER, MARK, damage_named, decoded, decoded_lines, open_bytes
from oversmoothing.jobs import UserError

NAME_COLUMN = "name the column with the text (corpus.column, or --column)"
CHATS = ("messages", "conversations", "conversation")
AS_ROWS = "a table by columns, as pandas' `to_json` writes it: write it with orient='records', lines=True"
BY_COLUMNS = {"columns", "data"}, {"schema", "data"}  # keys of orient="split" and "table"


def read_json_lines(path: Path, column: str, _: int | None = None) -> Iterator[tuple[str, str | None]]:
    """Yield a field of the object in each line, as `formats.Reader`."""
    with damage_named(path), open_bytes(path) as file:
        for number, line in enumerate(decoded_lines(file, path), start=1):
            marked, record = line.startswith(MARK), line.removeprefix(MARK)
            if record.strip():
                place = f"line {number}"
                text = _field(_parsed(record, path, place), column, path, place)
                yield f":{number}", MARK + text if marked and text else text  # counted with those inside the text


def read_json(path: Path, column: str, most: int | None) -> Iterator[tuple[str, str | None]]:
    """Yield a field of the elements of an array, or as `read_json_lines`."""
    with damage_named(path), open_bytes(path) as file:
        data = file.read(BUFFER)
        if decoded(data, path, cut=True).lstrip()[:1] == "[":
            records = _parsed(decoded(data + file.read(), path), path, "it")
            for number, record in enumerate(records, start=1):
                yield f":{number}", _field(record, column, path, f"element {number}")
            return
    yield from read_json_lines(path, column, most)


def read_separated(path: Path, column: str, _: int | None) -> Iterator[tuple[str, str | None]]:
    """Yield a column of a file whose first line names the columns, as `formats.Reader`.

    Values stand between commas or tabs by the file's name, or between what else divides the first line such that a
    column has this name. Those in quotation marks may have line breaks in them (RFC 4180).
    """
    csv.field_size_limit(sys.maxsize)
    with damage_named(path), open_bytes(path) as file:
        lines = decoded_lines(file, path)
        first = next(lines, "").rstrip("\r\n")
        usual = SEPARATORS[format_of(path)]
        headers = {sign: _names(first, sign) for sign in (usual, *",;\t|")}
        sign = next((sign for sign, header in headers.items() if column in header), usual)
        header = headers[sign]
        if column not in header:
            if not first:
                return
            have = ", ".join(header)
            raise UserError(f"{path}: no column {column!r} in its first line (it has: {have}): {NAME_COLUMN}")
        if header.count(column) > 1:
            raise UserError(f"{path}: {header.count(column)} columns are called {column!r}: rename all but one")
        place = header.index(column)
        for number, row in _rows(lines, sign, path):
            if len(row) != len(header):
                fault = f"{len(row)} values, and the first line names {len(header)} columns"
                raise UserError(
                    f"{path}: the record that ends in line {number} has {fault}: correct its quotation marks"
                )
            repeated = [value.removeprefix(MARK) for value in row] == header  # where files were joined
            yield f":{number}", None if repeated else row[place]


def chats(names: Iterable[str]) -> str | None:
    """Return what to do with chats, if there is a column or field with a name of theirs; else None."""
    if name := next((name for name in names if name in CHATS), None):
        rendered = "tokenizer.apply_chat_template(messages, tokenize=False)"
        return f"{name!r} are chats: render each as text first (`{rendered}` of transformers), and name that column"
    return None


def _names(line: str, sign: str) -> list[str]:
    try:
        return [name.strip() for name in next(csv.reader([line], delimiter=sign), [])]
    except csv.Error:  # a quotation mark, or a carriage return, inside the line
        return [line]


def _rows(lines: Iterator[str], sign: str, path: Path) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield each record after the first line that is not empty, with the number of its last line."""
    reader = csv.reader(lines, delimiter=sign, strict=True)
    try:
        yield from ((reader.line_num + 1, row) for row in reader if row and row != [MARK])
    except csv.Error as error:
        raise UserError(f"{path}: line {reader.line_num + 1}: {error}: correct its quotation marks") from None


def _parsed(text: str, path: Path, place: str) -> Any:
    try:
        return json.loads(text, parse_int=len)  # a number is no text, and Python refuses one of 4,301 digits
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", type(error).__name__)
        lines = "a file of this name has one object a line, or an array of objects"
        remedy = lines if JSON in map(str.lower, path.suffixes) else "correct or remove the line"
        raise UserError(f"{path}: {place} is not JSON ({reason}): {remedy}") from None


def _field(record: Any, column: str, path: Path, place: str) -> str | None:
    if not isinstance(record, dict) or column not in record:
        have = f"it has: {', '.join(record)}" if isinstance(record, dict) else "it is not an object"
        remedy = NAME_COLUMN
        if isinstance(record, dict):
            by_columns = any(keys <= record.keys() for keys in BY_COLUMNS)
            remedy = chats(record) or (AS_ROWS if by_columns else NAME_COLUMN)
        raise UserError(f"{path}: {place} has no field {column!r} ({have}): {remedy}")
    text = record[column]
    if text is not None and not isinstance(text, str):
        remedy = chats([column]) or (AS_ROWS if isinstance(text, dict) else NAME_COLUMN)
        raise UserError(f"{path}: {place}: {column!r} is {type(text).__name__}, not a string: {remedy}")
    return text and text.removeprefix(MARK)
