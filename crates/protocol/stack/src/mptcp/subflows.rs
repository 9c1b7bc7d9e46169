//! The subflows of a connection.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Deref, DerefMut};

use super::subflow::Subflow;
use crate::tcp::{FourTuple, Tcp, TcpCounters};

/// Subflows in the order of their opening. Ids are never used again.
#[derive(Clone, Debug)]
pub(super) struct Subflows {
    list: Vec<Subflow>,
    next_id: u32,
    /// Counters of subflows that are gone; boxed, as most connections keep theirs.
    past: Option<Box<TcpCounters<u64>>>,
}

impl Deref for Subflows {
    type Target = [Subflow];

    #[inline]
    fn deref(&self) -> &[Subflow] {
        &self.list
    }
}

impl DerefMut for Subflows {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Subflow] {
        &mut self.list
    }
}

impl Subflows {
    /// The subflow of MP_CAPABLE.
    pub(super) fn new(tcp: Tcp, initiated_here: bool) -> Self {
        Self {
            list: Vec::from([Subflow::new(0, tcp, initiated_here)]),
            next_id: 1,
            past: None,
        }
    }

    /// Adds a subflow of MP_JOIN.
    pub(super) fn join(&mut self, tcp: Tcp, initiated_here: bool) -> &mut Subflow {
        let mut subflow = Subflow::new(self.next_id, tcp, initiated_here);
        subflow.tcp.share_window(true);
        self.next_id += 1;
        self.list.push(subflow);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    /// Index of the subflow with an id.
    #[inline]
    pub(super) fn index_of(&self, id: u32) -> Option<usize> {
        self.list.iter().position(|subflow| subflow.id == id)
    }

    /// The subflow of MP_CAPABLE, where it is not gone.
    pub(super) fn first_mut(&mut self) -> Option<&mut Subflow> {
        self.list.iter_mut().find(|subflow| subflow.is_first())
    }

    /// Number of subflows beside the first one that are open or being opened.
    pub(super) fn additional(&self) -> u32 {
        let additional = |subflow: &&Subflow| !subflow.is_first() && !subflow.is_over();
        self.list.iter().filter(additional).count() as u32
    }

    /// Removes subflows that are gone. Gives their addresses.
    pub(super) fn remove_gone(&mut self) -> impl Iterator<Item = FourTuple> {
        let past = &mut self.past;
        let gone = self.list.extract_if(.., |subflow| subflow.is_gone());
        gone.map(|subflow| {
            past.get_or_insert_default().add(subflow.tcp.counters());
            subflow.tcp.tuple()
        })
    }

    /// Adds the counters of all subflows, those that are gone included.
    pub(super) fn add_tcp_counters(&self, sum: &mut TcpCounters<u64>) {
        if let Some(past) = &self.past {
            sum.add(past);
        }
        for subflow in &self.list {
            sum.add(subflow.tcp.counters());
        }
    }
}
