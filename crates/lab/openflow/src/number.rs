//! Enumerations of the specification, each a closed set of numbers.

/// Declares an enumeration with the number that each of its variants has on the wire.
macro_rules! numbers {
    (
        $(#[$doc:meta])*
        $name:ident: $wire:ty { $($(#[$about:meta])* $variant:ident = $number:expr,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr($wire)]
        pub enum $name {
            $($(#[$about])* $variant = $number,)+
        }

        impl $name {
            /// Every variant, in the order of the specification.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The number on the wire.
            pub const fn number(self) -> $wire {
                self as $wire
            }

            /// The variant of a number on the wire; `None` where the specification has none.
            pub const fn of(number: $wire) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use numbers;
