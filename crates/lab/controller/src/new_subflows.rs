//! Subflows on links that are too new to be part of the loads that were measured.

use std::collections::BTreeMap;

use crate::place::Link;

/// Those of a link that are counted: of more than these each has next to nothing in any case.
const MOST: usize = 64;

/// The new subflows of each link, in either direction, by the times until which they count.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewSubflows {
    until_ns: BTreeMap<Link, Vec<u64>>,
}

impl NewSubflows {
    /// Counts a subflow on the links of its path until a time.
    pub(crate) fn add(&mut self, now_ns: u64, path: &[Link], until_ns: u64) {
        for link in path {
            let own = self.until_ns.entry(*link).or_default();
            own.retain(|until_ns| *until_ns > now_ns);
            if own.len() < MOST {
                own.push(until_ns);
            }
        }
    }

    /// The number of those on a link.
    pub(crate) fn on(&self, now_ns: u64, link: &Link) -> usize {
        let own = self.until_ns.get(link).into_iter().flatten();
        own.filter(|until_ns| **until_ns > now_ns).count()
    }

    /// Forgets those that count no more.
    pub(crate) fn forget_old(&mut self, now_ns: u64) {
        self.until_ns.retain(|_, own| {
            own.retain(|until_ns| *until_ns > now_ns);
            !own.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::PortRef;

    #[test]
    fn a_subflow_counts_until_its_time_on_the_links_of_its_path_alone() {
        let link = |number| Link {
            from: PortRef::new(number, 1),
            to: PortRef::new(number + 1, 2),
        };
        let mut new = NewSubflows::default();
        new.add(0, &[link(1), link(2)], 10);
        new.add(5, &[link(2)], 20);
        let on = |new: &NewSubflows, now_ns| [1, 2, 3].map(|number| new.on(now_ns, &link(number)));
        assert_eq!(on(&new, 9), [1, 2, 0]);
        assert_eq!(on(&new, 10), [0, 1, 0]);
        new.forget_old(10);
        assert_eq!(new.until_ns.len(), 1);
        for _ in 0..2 * MOST {
            new.add(15, &[link(3)], 30);
        }
        assert_eq!(on(&new, 20), [0, 0, MOST]);
    }
}
