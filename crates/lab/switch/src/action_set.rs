//! The action set of a packet on its way through the tables (section 5.10).

use mptcplab_openflow::{Action, Field};

/// Actions, at most one of each type and, of set-field, of each field.
#[derive(Clone, Debug, Default)]
pub(crate) struct ActionSet {
    actions: Vec<Action>,
}

/// The place of an action in the order of the specification, and what tells two of it apart.
fn rank(action: &Action) -> (u8, Option<Field>) {
    let rank = match action {
        Action::CopyTtlIn => 0,
        Action::PopVlan | Action::PopMpls(_) | Action::PopPbb => 1,
        Action::PushMpls(_) => 2,
        Action::PushPbb(_) => 3,
        Action::PushVlan(_) => 4,
        Action::CopyTtlOut => 5,
        Action::DecNwTtl | Action::DecMplsTtl => 6,
        Action::SetField(oxm) => return (7, Some(oxm.field)),
        Action::SetNwTtl(_) | Action::SetMplsTtl(_) => 8,
        Action::SetQueue(_) => 9,
        Action::Group(_) => 10,
        Action::Output { .. } => 11,
        Action::Experimenter { .. } => 12,
    };
    (rank, None)
}

impl ActionSet {
    pub(crate) fn clear(&mut self) {
        self.actions.clear();
    }

    /// Writes actions; each takes the place of the one of its type.
    pub(crate) fn write(&mut self, actions: &[Action]) {
        for action in actions {
            let own = rank(action);
            match self.actions.binary_search_by_key(&own, rank) {
                Ok(index) => self.actions[index] = action.clone(),
                Err(index) => self.actions.insert(index, action.clone()),
            }
        }
    }

    /// The actions in the order in which they are carried out. Where there is a group, there is no
    /// output.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Action> {
        let has_group = self
            .actions
            .iter()
            .any(|one| matches!(one, Action::Group(_)));
        let is_done =
            move |action: &&Action| !(has_group && matches!(action, Action::Output { .. }));
        self.actions.iter().filter(is_done)
    }
}

/// The actions of a bucket, which are a set, too.
pub(crate) fn ordered(actions: &[Action]) -> Vec<Action> {
    let mut set = ActionSet::default();
    set.write(actions);
    set.in_order().cloned().collect()
}
