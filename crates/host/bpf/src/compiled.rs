//! Objects that others have compiled: which operations they register, by what names.

use std::ffi::CString;

use crate::Error;
use crate::btf::Btf;
use crate::elf::{Elf, text};

/// Kinds of operations that the kernel takes, by the names of their structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `tcp_congestion_ops`.
    CongestionControl,
    /// `mptcp_sched_ops`, where the kernel has it.
    Scheduler,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::CongestionControl, Self::Scheduler];

    /// The structure of the operations.
    pub(crate) fn structure(self) -> &'static str {
        match self {
            Self::CongestionControl => "tcp_congestion_ops",
            Self::Scheduler => "mptcp_sched_ops",
        }
    }
}

/// A structure of operations in an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) kind: Kind,
    /// The variable, and so the map.
    pub(crate) variable: CString,
    /// The name that is registered.
    pub(crate) name: String,
}

const SECTION: &[u8] = b".struct_ops";
/// The section of operations that live as long as a link; older libbpf does not know it.
const LINKED_SECTION: &[u8] = b".struct_ops.link";
const TYPES_SECTION: &[u8] = b".BTF";
/// `TCP_CA_NAME_MAX` without the zero, and so is `MPTCP_SCHED_NAME_MAX`.
const LONGEST_NAME: usize = 15;
/// An object with more is none that a person has written.
const MOST_DECLARED: usize = 64;

/// The operations that an object declares, at least one.
///
/// # Errors
/// [`Error::Object`] where it is none, declares none, or others.
pub(crate) fn declared(bytes: &[u8]) -> Result<Vec<Declared>, Error> {
    let elf = Elf::read(bytes).map_err(Error::Object)?;
    let variables = elf.variables(|section| section == SECTION || section == LINKED_SECTION);
    if variables.is_empty() {
        return refused("registers nothing: it has no structure in SEC(\".struct_ops\")".into());
    }
    if variables.len() > MOST_DECLARED {
        return refused(format!("registers more than {MOST_DECLARED} structures"));
    }
    let Some(types) = elf.section(TYPES_SECTION).and_then(Btf::read) else {
        return refused("does not describe its types (BTF): compile it with clang -g".into());
    };
    let mut found = Vec::new();
    for variable in variables {
        let shown = String::from_utf8_lossy(variable.name)
            .escape_debug()
            .to_string();
        let structure = types.structure_of(variable.name).unwrap_or_default();
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| kind.structure().as_bytes() == structure);
        let Some(kind) = kind else {
            let structure = String::from_utf8_lossy(structure)
                .escape_debug()
                .to_string();
            return refused(format!(
                "registers {shown} as struct {structure}, and not as tcp_congestion_ops or \
                 mptcp_sched_ops"
            ));
        };
        let offset = types.offset_of(structure, b"name");
        let name = offset.map_or(&[][..], |offset| text(variable.bytes, offset));
        if name.is_empty() || name.len() > LONGEST_NAME || !name.iter().all(|&byte| is_named(byte))
        {
            return refused(format!(
                "gives {shown} no name: .name has 1 to {LONGEST_NAME} letters, digits, _ and ."
            ));
        }
        found.push(Declared {
            kind,
            variable: CString::new(variable.name).expect("it ends before its zero"),
            name: String::from_utf8_lossy(name).into_owned(),
        });
    }
    Ok(found)
}

/// The object with its operations in the section of those that stay without a link.
pub(crate) fn without_links(bytes: &[u8]) -> Vec<u8> {
    let mut patched = bytes.to_vec();
    let Ok(elf) = Elf::read(bytes) else {
        return patched;
    };
    // The names of sections, and of the types of their variables.
    for name in [&b".strtab"[..], b".shstrtab", TYPES_SECTION] {
        let Some(table) = elf.sections().iter().find(|one| one.name == name) else {
            continue;
        };
        let table = &mut patched[table.place.clone()];
        let ended = [LINKED_SECTION, b"\0"].concat();
        let places: Vec<usize> = (0..table.len().saturating_sub(ended.len() - 1))
            .filter(|&place| table[place..].starts_with(&ended))
            .collect();
        for place in places {
            table[place + SECTION.len()] = 0;
        }
    }
    patched
}

/// Whether the kernel takes this byte in the name of operations.
fn is_named(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

fn refused<T>(text: String) -> Result<T, Error> {
    Err(Error::Object(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Control;

    /// An object of this crate; none where there was no compiler.
    fn object() -> Option<&'static [u8]> {
        let object = Control::Lia.object();
        if object.is_empty() {
            eprintln!("skipped: there was no clang when this was built");
        }
        (!object.is_empty()).then_some(object)
    }

    #[test]
    fn what_an_object_registers_is_known_before_it_is_loaded() {
        for control in Control::ALL {
            let Some(_) = object() else { return };
            let found = declared(control.object()).unwrap();
            let expected = Declared {
                kind: Kind::CongestionControl,
                variable: control.map().to_owned(),
                name: control.name().to_owned(),
            };
            assert_eq!(found, [expected]);
        }
    }

    #[test]
    fn operations_of_a_link_become_those_without() {
        let Some(object) = object() else { return };
        assert_eq!(without_links(object), object);
        // The compiler's name of the section, lengthened where it stands: `.struct_ops` has a zero
        // after it, and what comes then is of no concern here.
        let mut linked = object.to_vec();
        let elf = Elf::read(object).unwrap();
        let names = elf.sections().iter().find(|one| one.name == b".strtab");
        let names = names.unwrap().place.clone();
        let place = linked[names.clone()]
            .windows(SECTION.len() + 1)
            .position(|part| part == b".struct_ops\0");
        let place = names.start + place.unwrap();
        linked[place..place + LINKED_SECTION.len() + 1].copy_from_slice(b".struct_ops.link\0");
        let unlinked = without_links(&linked);
        assert_eq!(unlinked[place..][..SECTION.len() + 1], *b".struct_ops\0");
        assert!(declared(&unlinked).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let mut elf = b"\x7fELF\x02\x01".to_vec();
            elf.extend(bytes);
            let _ = declared(&elf);
            let _ = without_links(&elf);
        }

        #[test]
        fn a_damaged_object_is_taken_or_refused(
            cut in any::<prop::sample::Index>(),
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        ) {
            if let Some(object) = object() {
                let mut damaged = object.to_vec();
                for (place, byte) in changes {
                    *place.get_mut(&mut damaged) = byte;
                }
                let _ = declared(&damaged);
                let _ = without_links(&damaged);
                let _ = declared(&damaged[..cut.index(damaged.len())]);
            }
        }
    }
}
