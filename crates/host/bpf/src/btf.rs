//! Types of C as compilers and the kernel describe them (BTF, `include/uapi/linux/btf.h`), in the
//! byte order of this machine. Any bytes may be given; nothing is taken to be right.

use crate::elf::{text, u32_at};

const MAGIC: u16 = 0xeb9f;
const TYPE_BYTES: usize = 12;
const MEMBER_BYTES: usize = 12;
const ARRAY: u32 = 3;
const STRUCT: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FUNCTION_TYPE: u32 = 13;
const VARIABLE: u32 = 14;
const SECTION: u32 = 15;
const DECLARATION_TAG: u32 = 17;
const ENUM64: u32 = 19;
const INTEGER: u32 = 1;
/// Typedef, volatile, const, restrict and type tag: the type is the one that follows.
const SAME: [u32; 5] = [8, 9, 10, 11, 18];
const LAST_KIND: u32 = 19;
/// No declaration has more of these one after the other.
const MOST_STEPS: usize = 32;

/// Types, by their numbers from 1.
pub(crate) struct Btf<'a> {
    types: Vec<Type<'a>>,
    names: &'a [u8],
}

struct Type<'a> {
    name: usize,
    kind: u32,
    /// How the offsets of members are written.
    has_bit_fields: bool,
    /// Size, or the type that it is made of.
    of: u32,
    /// Bytes that follow the type: members, for instance.
    body: &'a [u8],
}

impl<'a> Btf<'a> {
    /// Reads the types; none where these are no types.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let head = bytes.get(..24)?;
        if u16::from_ne_bytes([head[0], head[1]]) != MAGIC {
            return None;
        }
        let part = |from: usize, size: usize| {
            let start = (u32_at(head, 4) as usize).checked_add(u32_at(head, from) as usize)?;
            bytes.get(start..start.checked_add(u32_at(head, size) as usize)?)
        };
        let (mut rest, names) = (part(8, 12)?, part(16, 20)?);
        let mut types = Vec::new();
        while let Some(head) = rest.get(..TYPE_BYTES) {
            let info = u32_at(head, 4);
            let (kind, count) = (info >> 24 & 0x1f, (info & 0xffff) as usize);
            let size = match kind {
                INTEGER | VARIABLE | DECLARATION_TAG => 4,
                ARRAY => 12,
                STRUCT | UNION | SECTION | ENUM64 => 12 * count,
                ENUM | FUNCTION_TYPE => 8 * count,
                _ if kind > LAST_KIND => return None,
                _ => 0,
            };
            let body = rest.get(TYPE_BYTES..TYPE_BYTES + size)?;
            types.push(Type {
                name: u32_at(head, 0) as usize,
                kind,
                has_bit_fields: info >> 31 == 1,
                of: u32_at(head, 8),
                body,
            });
            rest = &rest[TYPE_BYTES + size..];
        }
        Some(Self { types, names })
    }

    /// The name of the structure of which a variable is.
    pub(crate) fn structure_of(&self, variable: &[u8]) -> Option<&'a [u8]> {
        let named = |one: &&Type<'_>| one.kind == VARIABLE && self.name(one) == variable;
        let mut number = self.types.iter().find(named)?.of;
        for _ in 0..MOST_STEPS {
            let one = self.types.get((number as usize).checked_sub(1)?)?;
            match one.kind {
                STRUCT => return Some(self.name(one)),
                kind if SAME.contains(&kind) => number = one.of,
                _ => return None,
            }
        }
        None
    }

    /// The number of a structure.
    pub(crate) fn number_of(&self, structure: &[u8]) -> Option<u32> {
        let named = |one: &Type<'_>| one.kind == STRUCT && self.name(one) == structure;
        let place = self.types.iter().position(named)?;
        u32::try_from(place + 1).ok()
    }

    /// Where a member of a structure begins, in bytes.
    pub(crate) fn offset_of(&self, structure: &[u8], member: &[u8]) -> Option<usize> {
        let one = &self.types[self.number_of(structure)? as usize - 1];
        let members = one.body.chunks_exact(MEMBER_BYTES);
        let mut named =
            members.filter(|entry| text(self.names, u32_at(entry, 0) as usize) == member);
        let bits = u32_at(named.next()?, 8);
        let bits = if one.has_bit_fields {
            bits & 0xff_ffff
        } else {
            bits
        };
        Some(bits as usize / 8)
    }

    fn name(&self, one: &Type<'_>) -> &'a [u8] {
        text(self.names, one.name)
    }
}
