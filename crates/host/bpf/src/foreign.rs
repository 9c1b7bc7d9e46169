//! Congestion controls and schedulers from compiled objects of others: loads, lists and unloads them.

use std::fs;

use crate::btf::Btf;
use crate::compiled::{self, Declared, Kind};
use crate::elf::text;
use crate::kernel::{self, Operations};
use crate::object::{KERNEL_TYPES, Loaded};
use crate::registration::is_accepted;
use crate::{Control, Error};

/// Operations that are registered by BPF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The name by which sockets choose a congestion control, or the scheduler's.
    pub name: String,
    /// Congestion control or scheduler.
    pub kind: Kind,
    /// They live as long as a process holds a link to them; others until they are unloaded.
    pub is_held: bool,
}

/// Registers all operations of a compiled object until each is unloaded; gives their names.
///
/// # Errors
/// Where the object is not one to load, the kernel refuses it, or has a name already. Then all that
/// was registered is unregistered.
pub fn load_object(bytes: &[u8]) -> Result<Vec<String>, Error> {
    let declared = compiled::declared(bytes)?;
    let types = kernel_types()?;
    for one in &declared {
        check(one, &types)?;
    }
    let names: Vec<String> = declared.iter().map(|one| one.name.clone()).collect();
    let object = Loaded::load(&compiled::without_links(bytes), &names[0], None)?;
    for (place, one) in declared.iter().enumerate() {
        if let Err(error) = object.register(&one.variable, false) {
            for registered in &declared[..place] {
                // The error that stopped the loading matters more than one of undoing it.
                let _ = object.unregister(&registered.variable);
            }
            let is_taken = crate::registration::is_taken(&error);
            return Err(if is_taken {
                Error::Taken(one.name.clone())
            } else {
                error
            });
        }
    }
    Ok(names)
}

/// Unregisters operations that were loaded to stay, by any process. Sockets that have them keep them.
/// Where a congestion control and a scheduler of this name were loaded, the congestion control.
///
/// # Errors
/// Where none was loaded, or a process holds them.
pub fn unload(name: &str) -> Result<(), Error> {
    if let Some(control) = Control::from_name(name) {
        return control.unload();
    }
    let (registered, maps): (Vec<_>, Vec<_>) = found()?.into_iter().unzip();
    maps[choose(&registered, name)?].unregister()
}

/// Index of the operations that [`unload`] unregisters. Names are unique within a kind only.
fn choose(registered: &[Registered], name: &str) -> Result<usize, Error> {
    let loaded = |kind| {
        let is_it = |one: &Registered| one.name == name && one.kind == kind && !one.is_held;
        registered.iter().position(is_it)
    };
    if let Some(index) = Kind::ALL.into_iter().find_map(loaded) {
        return Ok(index);
    }
    Err(if registered.iter().any(|one| one.name == name) {
        Error::HeldByProcess(name.to_owned())
    } else {
        Error::NothingLoaded(name.to_owned())
    })
}

/// All operations that are registered by BPF, by any process.
///
/// # Errors
/// Where the kernel does not tell: it tells root.
pub fn registered() -> Result<Vec<Registered>, Error> {
    Ok(found()?.into_iter().map(|(one, _)| one).collect())
}

/// All registered operations, each with its map.
fn found() -> Result<Vec<(Registered, Operations)>, Error> {
    let maps = kernel::all_operations()?;
    if maps.is_empty() {
        return Ok(Vec::new());
    }
    let types = kernel_types()?;
    let types = types.read()?;
    let mut found = Vec::new();
    for map in maps {
        for kind in Kind::ALL {
            if types.number_of(value_structure(kind).as_bytes()) == Some(map.value_type)
                && let Some(name) = name_of(&map, kind, &types)?
            {
                let is_held = map.is_linked;
                found.push((
                    Registered {
                        name,
                        kind,
                        is_held,
                    },
                    map,
                ));
                break;
            }
        }
    }
    Ok(found)
}

/// The name of operations that are registered.
fn name_of(map: &Operations, kind: Kind, types: &Btf<'_>) -> Result<Option<String>, Error> {
    // `enum bpf_struct_ops_state`: registered by the map, and by a link.
    const REGISTERED: [u32; 2] = [1, 3];
    let data = types.offset_of(value_structure(kind).as_bytes(), b"data");
    let name = types.offset_of(kind.structure().as_bytes(), b"name");
    let (Some(value), Some(data), Some(name)) = (map.value()?, data, name) else {
        return Ok(None);
    };
    let bytes: Vec<u8> = value.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let name = String::from_utf8_lossy(text(&bytes, data + name)).into_owned();
    Ok(REGISTERED.contains(&value[1]).then_some(name))
}

/// Whether the kernel can be given these operations.
fn check(one: &Declared, types: &KernelTypes) -> Result<(), Error> {
    let name = &one.name;
    if types
        .read()?
        .number_of(value_structure(one.kind).as_bytes())
        .is_none()
    {
        let what = match one.kind {
            Kind::CongestionControl => "congestion controls",
            Kind::Scheduler => "MPTCP schedulers",
        };
        return Err(Error::Object(format!(
            "registers {name}, and this kernel takes no {what} by BPF: its types have no struct {}",
            value_structure(one.kind)
        )));
    }
    if Control::from_name(name).is_some() {
        return Err(Error::Object(format!(
            "registers {name}, which is one of mptcplab's own: give yours another name"
        )));
    }
    if one.kind == Kind::CongestionControl && is_accepted(name)? {
        return Err(Error::Taken(name.clone()));
    }
    Ok(())
}

/// The kernel's structure of a map's value.
fn value_structure(kind: Kind) -> String {
    format!("bpf_struct_ops_{}", kind.structure())
}

/// The types of the running kernel.
struct KernelTypes(Vec<u8>);

fn kernel_types() -> Result<KernelTypes, Error> {
    fs::read(KERNEL_TYPES)
        .map(KernelTypes)
        .map_err(|_| Error::NoTypes)
}

impl KernelTypes {
    fn read(&self) -> Result<Btf<'_>, Error> {
        Btf::read(&self.0).ok_or(Error::NoTypes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, kind: Kind, is_held: bool) -> Registered {
        Registered {
            name: name.to_owned(),
            kind,
            is_held,
        }
    }

    #[test]
    fn of_two_kinds_with_one_name_the_congestion_control_is_unloaded_first() {
        let mut registered = vec![
            one("other", Kind::CongestionControl, false),
            one("same", Kind::Scheduler, false),
            one("same", Kind::CongestionControl, false),
        ];
        assert_eq!(choose(&registered, "same").unwrap(), 2);
        registered.pop();
        assert_eq!(choose(&registered, "same").unwrap(), 1);
    }

    #[test]
    fn operations_that_a_process_holds_are_not_unloaded() {
        let held = one("same", Kind::CongestionControl, true);
        let registered = [held.clone(), one("same", Kind::Scheduler, false)];
        assert_eq!(choose(&registered, "same").unwrap(), 1);
        let refused = choose(&[held], "same").unwrap_err();
        assert!(matches!(refused, Error::HeldByProcess(_)));
        let unknown = choose(&registered, "another").unwrap_err();
        assert!(matches!(unknown, Error::NothingLoaded(_)));
    }
}
