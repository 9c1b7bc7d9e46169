use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Result<Node, String> {
    parse(text, "policy").map_err(|Problem { line, key, text }| format!("{line}: {key}: {text}"))
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// A value without its lines.
fn plain(value: &Value) -> String {
    match value {
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| plain(&item.value)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Mapping(entries) => {
            let entry = |(key, node): &(Rc<str>, Node)| format!("{key}:{}", plain(&node.value));
            let entries: Vec<_> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(","))
        }
        scalar => quoted(scalar),
    }
}

#[test]
fn plain_scalars_are_read_by_the_core_schema() {
    for (written, value) in [
        ("no", text("no")),
        ("off", text("off")),
        ("'1'", text("1")),
        ("1", Value::Integer(1)),
        ("-7", Value::Integer(-7)),
        ("10.5", Value::Float(10.5)),
        (".5e3", Value::Float(500.0)),
        ("10.0.2.6", text("10.0.2.6")),
        ("fd00::1", text("fd00::1")),
        (".inf", text(".inf")),
        ("infinity", text("infinity")),
        ("True", Value::Bool(true)),
        ("~", Value::Null),
        (
            "1234567890123456789",
            Value::Float(1.234_567_890_123_456_8e18),
        ),
        ("", Value::Null),
    ] {
        assert_eq!(read(written).unwrap().value, value, "{written}");
    }
}

#[test]
fn each_value_has_the_line_of_its_key_or_of_itself() {
    let tree = read("a:\n  - b: 1\n  - c:\n      d: 2\n").unwrap();
    let Value::Mapping(entries) = &tree.value else {
        panic!("{tree:?}")
    };
    assert_eq!(entries[0].1.line, 1);
    let Value::List(items) = &entries[0].1.value else {
        panic!("{tree:?}")
    };
    assert_eq!(
        items.iter().map(|item| item.line).collect::<Vec<_>>(),
        [2, 3]
    );
    let Value::Mapping(entries) = &items[1].value else {
        panic!("{tree:?}")
    };
    let Value::Mapping(inner) = &entries[0].1.value else {
        panic!("{tree:?}")
    };
    assert_eq!((entries[0].1.line, inner[0].1.line), (3, 4));
}

#[test]
fn an_alias_stands_for_the_value_of_its_anchor() {
    let tree = read("a: &x {b: 1}\nc: *x\nd: [*x, *x]\n").unwrap();
    assert_eq!(plain(&tree.value), "{a:{b:1},c:{b:1},d:[{b:1},{b:1}]}");
}

#[test]
fn what_is_no_plain_tree_is_refused_with_its_place() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    let values = format!("[{}]", "1,".repeat(20_001));
    let mut laughs = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n".to_owned();
    for level in 1..20 {
        let before = format!("*a{}", level - 1);
        let ten = [before.as_str(); 10].join(", ");
        laughs += &format!("a{level}: &a{level} [{ten}]\n");
    }
    for (written, told) in [
        ("a: 1\na: 2\n", "2: a: given twice (first in line 1)"),
        (
            "x: [{a: 1, a: 2}]\n",
            "1: x.0.a: given twice (first in line 1)",
        ),
        (
            "a: 1\n---\nb: 1\n",
            "2: : a second document: a file holds one policy",
        ),
        (
            "a: !!int 1\n",
            "1: a: tags such as \"tag:yaml.org,2002:int\" are not used here",
        ),
        (
            "a: !own [1]\n",
            "1: a: tags such as \"!own\" are not used here",
        ),
        ("? [a]\n: 1\n", "1: : a key must be plain text"),
        ("{*x : 1}\n", "1: : not valid YAML"),
        ("a: *x\n", "1: : not valid YAML"),
        ("a: &x [*x]\n", "1: a.0: an alias inside of its own anchor"),
        (
            "a:\n  b: \"\\e[31m\"\n",
            "2: a.b: holds \\x1b, which cannot be printed",
        ),
        (
            "\"\\u202e\": 1\n",
            "1: : holds \\u202e, which cannot be printed",
        ),
        ("a: {\n", ": not valid YAML"),
        (&deep, "nested deeper than 20 levels"),
        (&values, "more than 20000 values (aliases counted in full)"),
        (
            &laughs,
            "5: : more than 20000 values (aliases counted in full)",
        ),
    ] {
        let error = read(written).unwrap_err();
        assert!(error.contains(told), "{written:.80}: {error}");
    }
}

#[test]
fn long_text_that_many_aliases_name_is_kept_once() {
    let mut written = format!("- &long {}\n", "x".repeat(100_000));
    written += &"- *long\n".repeat(3_000);
    let Value::List(items) = read(&written).unwrap().value else {
        panic!("a list")
    };
    let (Value::Text(first), Value::Text(last)) = (&items[0].value, &items[3_000].value) else {
        panic!("text")
    };
    assert!(Rc::ptr_eq(first, last));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(written in "[-a:*&!{}\\[\\],?|>'\"#% \n~0-9]{0,200}") {
        if let Err(problem) = parse(&written, "policy") {
            prop_assert!(!problem.text.is_empty());
        }
    }
}
