//! Parts of an object file that are read before libbpf gets it: sections and symbols of ELF for 64
//! bits, in the byte order of this machine. Any bytes may be given; nothing is taken to be right.

use std::ops::Range;

const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;
const SYMBOL_BYTES: usize = 24;
const MACHINE_BPF: u16 = 247;
const SECTION_SYMBOLS: u32 = 2;
/// No name is longer in the kernel (`KSYM_NAME_LEN`).
const LONGEST_TEXT: usize = 512;
/// More have no programs that the kernel takes.
const MOST_SECTIONS: usize = 4096;
const SECTION_WITHOUT_BYTES: u32 = 8;
const SYMBOL_OBJECT: u8 = 1;
const LITTLE_ENDIAN: u8 = if cfg!(target_endian = "little") { 1 } else { 2 };

/// An object file for BPF.
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
}

/// A section.
pub(crate) struct Section {
    pub(crate) name: Vec<u8>,
    /// Where its bytes are in the file.
    pub(crate) place: Range<usize>,
    kind: u32,
    link: usize,
}

/// A variable.
pub(crate) struct Variable<'a> {
    pub(crate) name: &'a [u8],
    /// Its bytes, from its first one to the end of its section.
    pub(crate) bytes: &'a [u8],
}

impl<'a> Elf<'a> {
    /// Reads the sections.
    ///
    /// # Errors
    /// A message that says what the bytes are not.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        if !bytes.starts_with(b"\x7fELF") {
            return Err("is no object file (ELF): compile it with clang --target=bpf -g -c".into());
        }
        let head = bytes.get(..HEADER_BYTES).ok_or_else(cut)?;
        let machine = u16_at(head, 18);
        if head[4] != 2 || head[5] != LITTLE_ENDIAN || machine != MACHINE_BPF {
            return Err(format!(
                "is no BPF object for this machine (ELF for machine {machine}): compile it with \
                 clang --target=bpf -g -c"
            ));
        }
        let table = usize_at(head, 40)?;
        let count = usize::from(u16_at(head, 60));
        let names = usize::from(u16_at(head, 62));
        if usize::from(u16_at(head, 58)) != SECTION_BYTES || count > MOST_SECTIONS {
            return Err(cut());
        }
        let mut heads = Vec::new();
        for number in 0..count {
            let from = table.checked_add(number * SECTION_BYTES).ok_or_else(cut)?;
            let head = part(bytes, from, SECTION_BYTES)?;
            let kind = u32_at(head, 4);
            let (start, size) = (usize_at(head, 24)?, usize_at(head, 32)?);
            let size = if kind == SECTION_WITHOUT_BYTES {
                0
            } else {
                size
            };
            part(bytes, start, size)?;
            let place = start..start + size;
            heads.push((u32_at(head, 0), place, kind, u32_at(head, 40) as usize));
        }
        let names = heads
            .get(names)
            .map_or(0..0, |(_, place, ..)| place.clone());
        let names = &bytes[names];
        let section = |(name, place, kind, link): (u32, Range<usize>, u32, usize)| Section {
            name: text(names, name as usize).to_vec(),
            place,
            kind,
            link,
        };
        let sections = heads.into_iter().map(section).collect();
        Ok(Self { bytes, sections })
    }

    /// All sections.
    pub(crate) fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The bytes of the section of this name.
    pub(crate) fn section(&self, name: &[u8]) -> Option<&'a [u8]> {
        let found = self.sections.iter().find(|section| section.name == name);
        found.map(|section| &self.bytes[section.place.clone()])
    }

    /// The variables in the sections that are `wanted`, by name.
    pub(crate) fn variables(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<Variable<'a>> {
        let mut tables = self.sections.iter();
        let Some(table) = tables.find(|section| section.kind == SECTION_SYMBOLS) else {
            return Vec::new();
        };
        let names = self.sections.get(table.link);
        let names = names.map_or(&[][..], |names| &self.bytes[names.place.clone()]);
        let symbols = self.bytes[table.place.clone()].chunks_exact(SYMBOL_BYTES);
        symbols
            .filter(|symbol| symbol[4] & 0xf == SYMBOL_OBJECT)
            .filter_map(|symbol| {
                let section = self.sections.get(usize::from(u16_at(symbol, 6)))?;
                let within = &self.bytes[section.place.clone()];
                let bytes = within.get(usize_at(symbol, 8).ok()?..)?;
                let name = text(names, u32_at(symbol, 0) as usize);
                wanted(&section.name).then_some(Variable { name, bytes })
            })
            .collect()
    }
}

/// A text that ends with a zero; empty where there is none of bounded length.
pub(crate) fn text(texts: &[u8], from: usize) -> &[u8] {
    let rest = texts.get(from..).unwrap_or_default();
    let end = rest.iter().take(LONGEST_TEXT).position(|&byte| byte == 0);
    end.map_or(&[], |end| &rest[..end])
}

pub(crate) fn u32_at(bytes: &[u8], from: usize) -> u32 {
    let number = bytes[from..from + 4].try_into();
    u32::from_ne_bytes(number.expect("four bytes"))
}

fn u16_at(bytes: &[u8], from: usize) -> u16 {
    u16::from_ne_bytes([bytes[from], bytes[from + 1]])
}

fn usize_at(bytes: &[u8], from: usize) -> Result<usize, String> {
    let number = bytes[from..from + 8].try_into();
    usize::try_from(u64::from_ne_bytes(number.expect("eight bytes"))).map_err(|_| cut())
}

fn part(bytes: &[u8], from: usize, size: usize) -> Result<&[u8], String> {
    let end = from.checked_add(size).ok_or_else(cut)?;
    bytes.get(from..end).ok_or_else(cut)
}

fn cut() -> String {
    "is damaged: its sections are not where it says".into()
}
