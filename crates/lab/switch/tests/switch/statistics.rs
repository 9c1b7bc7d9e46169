//! Replies of several parts.

use mptcplab_openflow::error::BadRequest;
use mptcplab_openflow::flow::FlowMod;
use mptcplab_openflow::multipart::{
    AggregateStats, FlowStatsRequest, Part, Reply, Request, TableProperty,
};
use mptcplab_openflow::{Body, Field, Message, Oxm};

use crate::entries::all;
use crate::frames::arp;
use crate::support::{Bench, apply, flow, messages, output};

#[test]
fn long_replies_come_in_parts_that_fit_a_message() {
    let mut bench = Bench::new();
    for value in 0..2000_u16 {
        bench.done(Body::FlowMod(flow(
            [Oxm::exact(Field::EthDst, value)],
            apply([output(2)]),
        )));
    }
    let content = Request::Flow(all());
    let told = messages(&bench.say(Body::MultipartRequest(Part {
        more: false,
        content,
    })));
    assert!(told.len() > 2);
    let mut found = 0;
    for (index, body) in told.iter().enumerate() {
        let mut bytes = Vec::new();
        Message::new(0, body.clone())
            .encode(&mut bytes)
            .expect("it fits");
        let Body::MultipartReply(Part {
            more,
            content: Reply::Flow(flows),
        }) = body
        else {
            panic!("{body:?}");
        };
        assert_eq!(*more, index + 1 < told.len());
        found += flows.len();
    }
    assert_eq!(found, 2000);
}

#[test]
fn sums_and_tables_are_counted() {
    let mut bench = Bench::new();
    bench.done(Body::FlowMod(flow([], apply([output(2)]))));
    bench.done(Body::FlowMod(FlowMod {
        table: 2,
        cookie: 6,
        ..flow([], vec![])
    }));
    bench.pass(1, &arp());
    let sum = AggregateStats {
        packet_count: 1,
        byte_count: arp().len() as u64,
        flow_count: 2,
    };
    assert_eq!(
        bench.reply(Request::Aggregate(all())),
        Reply::Aggregate(sum)
    );
    let by_cookie = FlowStatsRequest {
        cookie: 2,
        cookie_mask: 2,
        ..all()
    };
    let Reply::Aggregate(sum) = bench.reply(Request::Aggregate(by_cookie)) else {
        panic!("no sum");
    };
    assert_eq!(sum.flow_count, 1);
    let Reply::Table(tables) = bench.reply(Request::Table) else {
        panic!("no tables");
    };
    assert_eq!(tables.len(), 16);
    let counts = |table: usize| {
        let one = tables[table];
        (one.active_count, one.lookup_count, one.matched_count)
    };
    assert_eq!(
        (counts(0), counts(1), counts(2)),
        ((1, 1, 1), (0, 0, 0), (1, 0, 0))
    );
    let wrong = Request::Flow(FlowStatsRequest { table: 16, ..all() });
    let wrong = Body::MultipartRequest(Part {
        more: false,
        content: wrong,
    });
    assert_eq!(bench.refused(wrong), BadRequest::BadTableId.into());
}

#[test]
fn the_switch_says_what_it_is_and_can() {
    let mut bench = Bench::new();
    let Body::FeaturesReply(features) = bench.ask(Body::FeaturesRequest) else {
        panic!("no features");
    };
    assert_eq!(
        (features.datapath_id, features.n_tables, features.n_buffers),
        (1, 16, 256)
    );
    let Reply::Desc(desc) = bench.reply(Request::Desc) else {
        panic!("no description");
    };
    assert_eq!(desc.manufacturer.as_str(), "mptcplab");
    let Reply::PortDesc(ports) = bench.reply(Request::PortDesc) else {
        panic!("no ports");
    };
    let names: Vec<_> = ports.iter().map(|port| port.name.to_string()).collect();
    assert_eq!(names, ["port1", "port2", "port3", "port4"]);
    let Reply::GroupFeatures(groups) = bench.reply(Request::GroupFeatures) else {
        panic!("no features");
    };
    assert_eq!(groups.types, 0b1111);
    let Reply::MeterFeatures(meters) = bench.reply(Request::MeterFeatures) else {
        panic!("no features");
    };
    assert_eq!(meters.band_types, 0b110);
}

#[test]
fn each_table_has_its_features() {
    let mut bench = Bench::new();
    let Reply::TableFeatures(tables) = bench.reply(Request::TableFeatures(vec![])) else {
        panic!("no tables");
    };
    assert_eq!(tables.len(), 16);
    for (number, table) in tables.iter().enumerate() {
        assert_eq!(usize::from(table.table), number);
        let next = table.properties.iter().find_map(|one| match one {
            TableProperty::NextTables {
                miss: false,
                tables,
            } => Some(tables.len()),
            _ => None,
        });
        assert_eq!(next, Some(15 - number));
        let fields = table.properties.iter().find_map(|one| match one {
            TableProperty::Match(ids) => Some(ids.iter().filter_map(|id| id.field()).count()),
            _ => None,
        });
        // All but those of MPLS and of backbone bridges.
        assert_eq!(fields, Some(36));
    }
}
