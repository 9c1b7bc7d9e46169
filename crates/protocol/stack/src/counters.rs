//! Counters with the names that the kernel gives them.

/// Makes a struct of counters: each field counts what the kernel counts under the name beside it.
/// Those of a connection have 32 bits, as in the kernel's `tcp_info`; sums over many have 64.
macro_rules! counters {
    ($(#[$meta:meta])* $visibility:vis struct $name:ident { $($(#[$doc:meta])* $field:ident = $kernel:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visibility struct $name<T = u32> {
            $($(#[$doc])* pub $field: T,)*
        }

        impl $name<u64> {
            /// Names of the kernel and values, in a fixed order.
            pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$(($kernel, self.$field),)*].into_iter()
            }

            /// Adds each counter of a connection.
            pub(crate) fn add<T: Copy + Into<u64>>(&mut self, other: &$name<T>) {
                $(self.$field += other.$field.into();)*
            }
        }
    };
}

pub(crate) use counters;
