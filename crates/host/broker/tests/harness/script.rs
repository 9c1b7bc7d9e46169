//! Steps of a script of bytes.

use std::net::SocketAddr;
use std::time::Duration;

use mptcplab_linux::event::{Event, EventKind};
use mptcplab_subflow::path_manager::Open;
use mptcplab_subflow::protocol::Command;

/// A script's bytes, one after the other; zeros at the end.
pub(super) struct Script<'a>(pub(super) &'a [u8]);

impl Script<'_> {
    pub(super) fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            None => 0,
            Some((&byte, rest)) => {
                self.0 = rest;
                byte
            }
        }
    }

    fn address(&mut self) -> SocketAddr {
        let (last, port) = (self.byte(), self.byte());
        match port {
            250.. => SocketAddr::from(([0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)], port.into())),
            _ => SocketAddr::from(([10, 0, 0, last], port.into())),
        }
    }

    pub(super) fn command(&mut self) -> Command {
        let subflow = u32::from(self.byte());
        let (level, option) = if subflow < 128 { (6, 13) } else { (1, 36) };
        match self.byte() % 10 {
            0 => Command::Close { subflow },
            1 => Command::SetBackup {
                subflow,
                backup: true,
            },
            2 => Command::Announce {
                address: self.address(),
            },
            3 => Command::Withdraw {
                address_id: subflow as u8,
            },
            4 => Command::GetOption {
                subflow,
                level,
                option,
                length: usize::from(self.byte()) * 2,
            },
            5 => Command::SetOption {
                subflow,
                level,
                option,
                value: vec![7; self.byte().into()],
            },
            6 => Command::Watch {},
            _ => Command::Open(Open {
                local: self.address(),
                remote: None,
                backup: false,
                interface: (subflow % 16 == 0).then(|| "wlan0".to_owned()),
                timeout: match self.byte() {
                    255 => Duration::MAX,
                    milliseconds => Duration::from_millis(milliseconds.into()),
                },
            }),
        }
    }

    pub(super) fn event(&mut self) -> Event {
        let kind = match self.byte() % 4 {
            0 => EventKind::Closed,
            1 => EventKind::SubflowClosed,
            2 => EventKind::SubflowEstablished,
            _ => EventKind::Announced,
        };
        let address = self.address();
        Event {
            kind,
            token: self.byte().into(),
            local: Some(address),
            remote: Some(address),
            local_id: None,
            remote_id: None,
            backup: None,
            error: Some(self.byte()),
            reset_reason: None,
            interface: None,
            server_side: None,
        }
    }
}
