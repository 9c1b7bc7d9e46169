//! YAML text as a tree, with the line of each value.
//!
//! The tree is built from the parser's events: nesting costs no recursion, a key that is given twice
//! is a mistake, and depth and the expansion of aliases have limits. Tags are refused. Plain scalars
//! are read by the core schema of YAML 1.2, so `no` and `off` are text.

pub(crate) mod fields;

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};

use crate::output::{is_harmful, printable};
use crate::problem::Problem;

/// Of a file that is read as YAML.
pub(crate) const LARGEST_FILE_BYTES: u64 = 128 * 1024;
const DEEPEST_NESTING: usize = 20;
const MOST_VALUES: usize = 20_000;
const LONGEST_SHOWN_CHARACTERS: usize = 60;
/// All numbers of so many digits fit 64 bits.
const MOST_DIGITS: usize = 18;

/// A value of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    /// Shared with the aliases of its anchor.
    Text(Rc<str>),
    List(Vec<Node>),
    Mapping(Vec<(Rc<str>, Node)>),
}

/// A value and the line, from 1, of its key or, in a list, of itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// Reads one document, which holds something of this kind: a policy, say.
///
/// # Errors
/// Why a text is none, with its place.
pub(crate) fn parse(text: &str, kind: &'static str) -> Result<Node, Problem> {
    let mut builder = Builder::new(kind);
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Problem {
            line: error.marker().line(),
            key: String::new(),
            text: format!("not valid YAML: {}", error.info()),
        })?;
        builder.take(event, span.start.line())?;
    }
    Ok(builder.top.unwrap_or(Node {
        line: 1,
        value: Value::Null,
    }))
}

/// A value as its author would recognise it: on one line and not long.
pub(crate) fn quoted(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => format!("\"{}\"", shortened(text)),
        Value::List(_) => "[...]".to_owned(),
        Value::Mapping(_) => "{...}".to_owned(),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_SHOWN_CHARACTERS) {
        None => text.replace('\n', "\\n"),
        Some((end, _)) => text[..end].replace('\n', "\\n") + "...",
    }
}

/// Puts the tree together.
struct Builder {
    kind: &'static str,
    top: Option<Node>,
    stack: Vec<Open>,
    /// Each complete value that has an anchor, and the number of values in it.
    anchors: HashMap<usize, (Value, usize)>,
    documents: usize,
    values: usize,
}

/// A mapping or list that is being read.
struct Open {
    line: usize,
    container: Container,
    /// Number of its anchor, 0 for none.
    anchor: usize,
    values_before: usize,
}

enum Container {
    List(Vec<Node>),
    Mapping {
        entries: Vec<(Rc<str>, Node)>,
        lines: HashMap<Rc<str>, usize>,
        /// The key whose value comes next, with its line.
        key: Option<(Rc<str>, usize)>,
    },
}

impl Builder {
    fn new(kind: &'static str) -> Self {
        Self {
            kind,
            top: None,
            stack: Vec::new(),
            anchors: HashMap::new(),
            documents: 0,
            values: 0,
        }
    }

    fn take(&mut self, event: Event<'_>, line: usize) -> Result<(), Problem> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    let text = format!("a second document: a file holds one {}", self.kind);
                    return Err(self.problem(line, text));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => match self.expects_key() {
                true => self.key(&text, line),
                false => self.scalar(&text, style, anchor, tag.as_deref(), line),
            },
            Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..)
                if self.expects_key() =>
            {
                Err(self.problem(line, "a key must be plain text"))
            }
            Event::Alias(anchor) => self.alias(anchor, line),
            Event::SequenceStart(anchor, tag) => {
                self.open(Container::List(Vec::new()), anchor, tag.as_deref(), line)
            }
            Event::MappingStart(anchor, tag) => {
                let container = Container::Mapping {
                    entries: Vec::new(),
                    lines: HashMap::new(),
                    key: None,
                };
                self.open(container, anchor, tag.as_deref(), line)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.close();
                Ok(())
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn expects_key(&self) -> bool {
        let open = self.stack.last().map(|open| &open.container);
        matches!(open, Some(Container::Mapping { key: None, .. }))
    }

    fn key(&mut self, text: &str, line: usize) -> Result<(), Problem> {
        self.check_printable(text, line)?;
        let Some(Open {
            container: Container::Mapping { lines, key, .. },
            ..
        }) = self.stack.last_mut()
        else {
            unreachable!("only a mapping has keys")
        };
        let text: Rc<str> = text.into();
        let first = lines.get(&text).copied();
        *key = Some((text.clone(), line));
        match first {
            Some(first) => Err(self.problem(line, format!("given twice (first in line {first})"))),
            None => {
                lines.insert(text, line);
                Ok(())
            }
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        line: usize,
    ) -> Result<(), Problem> {
        self.check_tag(tag, line)?;
        self.count(1, line)?;
        self.check_printable(text, line)?;
        let value = match style {
            ScalarStyle::Plain => resolve(text),
            _ => Value::Text(text.into()),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, (value.clone(), 1));
        }
        self.attach(value, line);
        Ok(())
    }

    fn alias(&mut self, anchor: usize, line: usize) -> Result<(), Problem> {
        let Some((_, values)) = self.anchors.get(&anchor) else {
            return Err(self.problem(line, "an alias inside of its own anchor"));
        };
        // Before the copy is made.
        self.count(*values, line)?;
        let value = self.anchors[&anchor].0.clone();
        self.attach(value, line);
        Ok(())
    }

    fn open(
        &mut self,
        container: Container,
        anchor: usize,
        tag: Option<&Tag>,
        line: usize,
    ) -> Result<(), Problem> {
        self.check_tag(tag, line)?;
        let values_before = self.values;
        self.count(1, line)?;
        if self.stack.len() >= DEEPEST_NESTING {
            let text = format!("nested deeper than {DEEPEST_NESTING} levels");
            return Err(self.problem(line, text));
        }
        let line = self.line_of_next(line);
        self.stack.push(Open {
            line,
            container,
            anchor,
            values_before,
        });
        Ok(())
    }

    fn close(&mut self) {
        let Some(open) = self.stack.pop() else { return };
        let value = match open.container {
            Container::List(items) => Value::List(items),
            Container::Mapping { entries, .. } => Value::Mapping(entries),
        };
        if open.anchor != 0 {
            let values = self.values - open.values_before;
            self.anchors.insert(open.anchor, (value.clone(), values));
        }
        self.attach(value, open.line);
    }

    fn attach(&mut self, value: Value, line: usize) {
        let line = self.line_of_next(line);
        let node = Node { line, value };
        match self.stack.last_mut().map(|open| &mut open.container) {
            None => self.top = Some(node),
            Some(Container::List(items)) => items.push(node),
            Some(Container::Mapping { entries, key, .. }) => {
                entries.extend(key.take().map(|(key, _)| (key, node)));
            }
        }
    }

    /// The line of a value that comes next: of its key, where it has one.
    fn line_of_next(&self, line: usize) -> usize {
        match self.stack.last().map(|open| &open.container) {
            Some(Container::Mapping {
                key: Some((_, line)),
                ..
            }) => *line,
            _ => line,
        }
    }

    fn count(&mut self, values: usize, line: usize) -> Result<(), Problem> {
        self.values += values;
        match self.values > MOST_VALUES {
            true => Err(Problem {
                line,
                key: String::new(),
                text: format!("more than {MOST_VALUES} values (aliases counted in full)"),
            }),
            false => Ok(()),
        }
    }

    fn check_tag(&self, tag: Option<&Tag>, line: usize) -> Result<(), Problem> {
        match tag {
            None => Ok(()),
            Some(tag) => {
                let name = shortened(&format!("{}{}", tag.handle, tag.suffix));
                Err(self.problem(line, format!("tags such as \"{name}\" are not used here")))
            }
        }
    }

    fn check_printable(&self, text: &str, line: usize) -> Result<(), Problem> {
        match text.chars().find(|&letter| is_harmful(letter)) {
            None => Ok(()),
            Some(letter) => {
                let letter = printable(&letter.to_string());
                let text = format!("holds {letter}, which cannot be printed: take it out");
                Err(self.problem(line, text))
            }
        }
    }

    /// A mistake at what comes next.
    fn problem(&self, line: usize, text: impl Into<String>) -> Problem {
        let parts: Vec<_> = self
            .stack
            .iter()
            .filter_map(|open| match &open.container {
                Container::List(items) => Some(items.len().to_string()),
                Container::Mapping { key, .. } => key.as_ref().map(|(key, _)| shortened(key)),
            })
            .collect();
        Problem {
            line,
            key: parts.join("."),
            text: text.into(),
        }
    }
}

/// The value of a plain scalar.
fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_integer = (1..=MOST_DIGITS).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_float = digits.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
        && !digits.ends_with(char::is_alphabetic);
    let integer = is_integer.then(|| text.parse().ok().map(Value::Integer));
    let float = is_float.then(|| text.parse().ok().map(Value::Float));
    integer
        .or(float)
        .flatten()
        .unwrap_or_else(|| Value::Text(text.into()))
}

#[cfg(test)]
mod tests;
