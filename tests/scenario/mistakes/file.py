"""Mistakes in the file as a whole."""
# A message stands on one line.
# ruff: noqa: E501

MISTAKES: list[tuple[str, str, list[str]]] = [
    (
        "hosts:\n",
        "host:\n",
        [
            "1: hosts: missing: add `hosts: {client: {interfaces: {eth: {}}}, server: …}`",
            '2: host: unknown key: did you mean "hosts"?',
        ],
    ),
    ("title: Two paths", "title: 7", ["1: title: 7: expected text"]),
    ("wifi: {between", "wifi: [between", ["15: not valid YAML: expected ',' or ']', but got '}'"]),
    (
        "title: Two paths",
        "title: Two paths\nrepetitions: 0",
        ["2: repetitions: 0: must be at least 1"],
    ),
    (
        "title: Two paths",
        "title: Two paths\nrepetitions: many",
        ['2: repetitions: "many": expected a whole number'],
    ),
    (
        "title: Two paths",
        "title: Two paths\ntitle: Again",
        ["2: title: given twice (first in line 1)"],
    ),
    (
        "title: Two paths",
        "title: 'Two paths",
        ["27: not valid YAML: found unexpected end of stream"],
    ),
    (
        "title: Two paths",
        "title: !!python/object:os.system x",
        ['1: title: tags such as "tag:yaml.org,2002:python/object:os.system" are not used here'],
    ),
    ("title: Two paths", "title: *unknown", ['1: title: "*unknown" refers to nothing before it']),
    (
        "title: Two paths",
        "title: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: {a: 1}}}}}}}}}}}}}}}}}}}}}}",
        ["1: title.a.a: nested deeper than 20 levels"],
    ),
    ("title: Two paths", "? [a]\n: b", ["1: a key must be plain text"]),
    (
        "title: Two paths",
        "title: a\n---\ntitle: b",
        ["2: a second document: a file holds one scenario"],
    ),
    (
        "title: Two paths",
        "name: ../../etc/passwd",
        [
            '1: name: "../../etc/passwd": a scenario\'s name has letters (a to z), '
            "digits, spaces and . / - _ only: rename the file, or give a `name:`"
        ],
    ),
    (
        "title: Two paths",
        "title: Two paths\nsample_interval: 1 us",
        ['2: sample_interval: "1 us": must be at least 1 ms'],
    ),
]
