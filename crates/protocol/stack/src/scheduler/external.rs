//! Schedulers from outside of this crate.

use alloc::boxed::Box;
use core::fmt;

use dyn_clone::DynClone;

use super::{Choice, Scheduler, View};

/// A scheduler made from a function, for experiments: one from another language, or one that is
/// written where it is used.
///
/// ```
/// use mptcplab_stack::scheduler::External;
///
/// // The first subflow only.
/// External::new(|view| view.new_data(0, view.subflows[0].room_bytes));
/// ```
#[derive(Clone)]
pub struct External(Box<dyn Choose>);

/// A function that chooses, and that can be cloned with all that it keeps.
trait Choose: DynClone + Send + Sync {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice>;
}

dyn_clone::clone_trait_object!(Choose);

impl<F> Choose for F
where
    F: for<'a, 'b> FnMut(&'a View<'b>) -> Option<Choice> + Clone + Send + Sync,
{
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        self(view)
    }
}

impl External {
    /// A scheduler that asks `choose`. An answer that names no subflow of the view, no data or
    /// data that cannot be sent is taken as `None`.
    pub fn new<F>(choose: F) -> Self
    where
        F: for<'a, 'b> FnMut(&'a View<'b>) -> Option<Choice> + Clone + Send + Sync + 'static,
    {
        Self(Box::new(choose))
    }
}

impl fmt::Debug for External {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("External")
    }
}

impl Scheduler for External {
    fn choose(&mut self, view: &View<'_>) -> Option<Choice> {
        let choice = self.0.choose(view)?;
        let end = choice.from.checked_add(choice.bytes)?;
        let sendable = choice.bytes > 0
            && choice.subflow < view.subflows.len()
            && (view.acknowledged..=view.next).contains(&choice.from)
            && end <= view.end.min(view.window_end);
        sendable.then_some(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{subflow, view};
    use super::*;

    #[test]
    fn the_function_decides() {
        let subflows = [subflow(0, 10), subflow(1, 20)];
        let mut scheduler = External::new(|view| view.new_data(1, 7));
        let choice = scheduler.choose(&view(&subflows)).unwrap();
        assert_eq!((choice.subflow, choice.bytes), (1, 7));
    }

    #[test]
    fn an_answer_that_cannot_be_sent_is_taken_as_none() {
        let subflows = [subflow(0, 10)];
        let bad = [
            (1, 0, 1),
            (0, 0, 0),
            (0, 1, 1),
            (0, 0, 100_001),
            (0, u64::MAX, 2),
        ];
        for (subflow, from, bytes) in bad {
            let mut scheduler = External::new(move |_| {
                Some(Choice {
                    subflow,
                    from,
                    bytes,
                })
            });
            assert_eq!(scheduler.choose(&view(&subflows)), None);
        }
    }
}
