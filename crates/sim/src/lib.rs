//! The sim engine: a [`Plan`](mptcplab_plan::Plan) carried out in virtual time.

#![forbid(unsafe_code)]
