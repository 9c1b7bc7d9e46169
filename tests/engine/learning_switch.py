"""An application of os-ken: switches that learn where addresses are."""

from typing import Any

from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class LearningSwitch(OSKenApp):  # type: ignore[misc]
    """Floods what it does not know."""

    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ports: dict[tuple[int, str], int] = {}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)  # type: ignore[untyped-decorator]
    def features(self, event: Any) -> None:
        """Asks for what no entry matches."""
        datapath = event.msg.datapath
        ofp, new = datapath.ofproto, datapath.ofproto_parser
        to_controller = new.OFPActionOutput(ofp.OFPP_CONTROLLER, ofp.OFPCML_NO_BUFFER)
        self._add(datapath, 0, new.OFPMatch(), to_controller)
        print(f"switch {datapath.id} with {event.msg.n_tables} tables", flush=True)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def packet_in(self, event: Any) -> None:
        """Learns the source's port, and passes the packet on."""
        message = event.msg
        datapath, came_by = message.datapath, message.match["in_port"]
        ofp, new = datapath.ofproto, datapath.ofproto_parser
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        self._ports[datapath.id, frame.src] = came_by
        port = self._ports.get((datapath.id, frame.dst), ofp.OFPP_FLOOD)
        action = new.OFPActionOutput(port)
        if port != ofp.OFPP_FLOOD:
            match = new.OFPMatch(in_port=came_by, eth_dst=frame.dst)
            self._add(datapath, 1, match, action)
        out = new.OFPPacketOut(
            datapath=datapath,
            buffer_id=ofp.OFP_NO_BUFFER,
            in_port=came_by,
            actions=[action],
            data=message.data,
        )
        datapath.send_msg(out)

    @staticmethod
    def _add(datapath: Any, priority: int, match: Any, action: Any) -> None:
        new = datapath.ofproto_parser
        apply = new.OFPInstructionActions(datapath.ofproto.OFPIT_APPLY_ACTIONS, [action])
        entry = new.OFPFlowMod(
            datapath=datapath, priority=priority, match=match, instructions=[apply]
        )
        datapath.send_msg(entry)
