//! Counters with the names that the kernel gives them.

/// Makes a struct of counters: each field counts what the kernel counts under the name beside it.
macro_rules! counters {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident { $($(#[$doc:meta])* $field:ident = $kernel:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visibility struct $name {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl $name {
            /// Names of the kernel and values, in a fixed order.
            pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($kernel, self.$field),)*].into_iter()
            }

            /// Adds each counter of another.
            pub(crate) fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

pub(crate) use counters;
