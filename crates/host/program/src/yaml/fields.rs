//! Values of a tree that have the wanted type; what has not is noted as a mistake.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{Node, Value, quoted, shortened};
use crate::problem::{Problem, did_you_mean};

/// A value and the dotted path of its key.
#[derive(Clone, Debug)]
pub(crate) struct At<'a> {
    key: String,
    pub(crate) node: &'a Node,
}

impl<'a> At<'a> {
    /// The tree itself.
    pub(crate) fn top(node: &'a Node) -> Self {
        let key = String::new();
        Self { key, node }
    }

    fn below(&self, part: &str, node: &'a Node) -> Self {
        let key = match self.key.as_str() {
            "" => shortened(part),
            key => format!("{key}.{}", shortened(part)),
        };
        Self { key, node }
    }
}

/// The mistakes that were found. Where a value has one, something else stands for it: nothing is
/// done with values of a tree that has mistakes.
#[derive(Default)]
pub(crate) struct Fields {
    pub(crate) problems: Vec<Problem>,
}

impl Fields {
    /// Notes a mistake.
    pub(crate) fn refuse(&mut self, at: &At<'_>, text: impl Into<String>) {
        self.problems.push(Problem {
            line: at.node.line,
            key: at.key.clone(),
            text: text.into(),
        });
    }

    /// Notes that a value, which is quoted, should be something else.
    pub(crate) fn refuse_value(&mut self, at: &At<'_>, text: &str) {
        match at.node.value {
            Value::Null => self.refuse(at, text),
            ref value => self.refuse(at, format!("{}: {text}", quoted(value))),
        }
    }

    /// The values of a mapping by their keys; others than these are mistakes.
    pub(crate) fn mapping<'a>(
        &mut self,
        at: &At<'a>,
        known: &[&'static str],
    ) -> BTreeMap<&'static str, At<'a>> {
        let mut found = BTreeMap::new();
        let Value::Mapping(entries) = &at.node.value else {
            self.refuse_value(at, "expected a mapping (`key: value`)");
            return found;
        };
        for (key, node) in entries {
            let value = at.below(key, node);
            match known.iter().copied().find(|&name| name == &**key) {
                Some(name) => {
                    found.insert(name, value);
                }
                None => {
                    let text = format!("unknown key: {}", did_you_mean(key, known));
                    self.refuse(&value, text);
                }
            }
        }
        found
    }

    /// The values of a list.
    pub(crate) fn list<'a>(&mut self, at: &At<'a>) -> Vec<At<'a>> {
        let Value::List(items) = &at.node.value else {
            self.refuse_value(at, "expected a list (`[a, b]`)");
            return Vec::new();
        };
        let items = items.iter().enumerate();
        items
            .map(|(index, node)| at.below(&index.to_string(), node))
            .collect()
    }

    /// A text.
    pub(crate) fn text<'a>(&mut self, at: &At<'a>) -> Option<&'a str> {
        if let Value::Text(text) = &at.node.value {
            return Some(text);
        }
        self.refuse_value(at, "expected text");
        None
    }

    /// A whole number within bounds.
    pub(crate) fn whole(&mut self, at: &At<'_>, bounds: RangeInclusive<u32>) -> u32 {
        let Value::Integer(number) = at.node.value else {
            self.refuse_value(at, "expected a whole number");
            return *bounds.start();
        };
        let (least, most) = (*bounds.start(), *bounds.end());
        match u32::try_from(number).ok() {
            Some(number) if bounds.contains(&number) => return number,
            _ if number < least.into() => {
                self.refuse_value(at, &format!("must be at least {least}"));
            }
            _ => self.refuse_value(at, &format!("must be at most {most}")),
        }
        least
    }

    /// `yes`, `no`, `true` or `false`.
    pub(crate) fn yes_or_no(&mut self, at: &At<'_>) -> bool {
        match &at.node.value {
            Value::Bool(value) => *value,
            Value::Text(text) if &**text == "yes" => true,
            Value::Text(text) if &**text == "no" => false,
            _ => {
                self.refuse_value(at, "expected true or false");
                false
            }
        }
    }
}
