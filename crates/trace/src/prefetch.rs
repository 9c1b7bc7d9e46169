//! Hints to the processor about memory that is needed soon.

#![allow(unsafe_code)]

/// Bytes of a cache line.
const LINE: usize = 64;

/// Lets the processor bring values into its near caches while the program goes on. Nothing that the
/// program sees depends on it; where the processor has no such instruction it does nothing.
#[inline]
pub(crate) fn prefetch<T>(values: &[T]) {
    let start = values.as_ptr().cast::<i8>();
    let before = start as usize % LINE;
    for at in (0..before + size_of_val(values)).step_by(LINE) {
        line(start.wrapping_sub(before).wrapping_add(at));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn line(address: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction takes any address, and neither faults nor changes memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn line(_: *const i8) {}
