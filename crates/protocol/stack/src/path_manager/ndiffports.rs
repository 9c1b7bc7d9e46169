//! Several subflows on one address pair, each with a port of its own.

use alloc::vec::Vec;

use super::{Join, Path, View};

/// As many subflows on the pair of the first one as are missing to
/// [`subflows_per_pair`](super::Limits::subflows_per_pair), for networks that spread flows over
/// equal paths by their ports.
///
/// Source: C. Raiciu et al., "Improving Datacenter Performance and Robustness with Multipath
/// TCP", SIGCOMM 2011, section 3.
pub(crate) fn ndiffports(view: &View<'_>) -> Vec<Join> {
    let (local, remote) = view.first;
    let pair = Path { local, remote };
    let open = view.paths.iter().filter(|path| **path == pair).count();
    let usable = view.locals.iter().any(|known| known.address == local)
        && view
            .remotes
            .iter()
            .any(|known| known.id == 0 && known.joinable);
    let wanted = view.limits.subflows_per_pair as usize;
    // One subflow on the pair is nothing that this path manager asks for.
    if wanted <= 1 || !usable {
        return Vec::new();
    }
    let join = Join {
        local,
        remote,
        backup: false,
    };
    core::iter::repeat_n(join, wanted.saturating_sub(open)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{join, local, path, remote, view};
    use super::*;

    #[test]
    fn the_pair_of_the_first_subflow_is_filled_up() {
        let locals = [local(0, "10.0.1.1", None)];
        let remotes = [remote(0, "10.0.9.1:80")];
        let paths = [path("10.0.1.1", "10.0.9.1:80"); 2];
        let mut view = view(&locals, &remotes, &paths);
        assert_eq!(ndiffports(&view), []);
        view.limits.subflows_per_pair = 4;
        assert_eq!(ndiffports(&view), [join("10.0.1.1", "10.0.9.1:80"); 2]);
    }
}
