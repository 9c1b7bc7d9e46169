"""The same flow in ns-3: a bulk TCP transfer over one link; prints one JSON object.

Run by the interpreter of an environment of its own, in which ns-3 is installed.
"""

import json
import sys
import time

from ns import ns


def main(seconds: float) -> dict[str, float]:
    """Runs the transfer for `seconds` of virtual time; processor time is that of the run alone."""
    ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(1448))
    ns.Config.SetDefault("ns3::TcpSocket::SndBufSize", ns.UintegerValue(4 << 20))
    ns.Config.SetDefault("ns3::TcpSocket::RcvBufSize", ns.UintegerValue(6 << 20))
    ns.Config.SetDefault(
        "ns3::TcpL4Protocol::SocketType", ns.TypeIdValue(ns.TypeId.LookupByName("ns3::TcpCubic"))
    )
    nodes = ns.NodeContainer()
    nodes.Create(2)
    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", ns.StringValue("100Mbps"))
    link.SetDeviceAttribute("Mtu", ns.UintegerValue(1500))
    link.SetChannelAttribute("Delay", ns.StringValue("10ms"))
    # One product of rate and round trip, as the queue of the other side.
    link.SetQueue("ns3::DropTailQueue", "MaxSize", ns.StringValue("167p"))
    devices = link.Install(nodes)
    ns.InternetStackHelper().Install(nodes)
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("10.1.1.0"), ns.Ipv4Mask("255.255.255.0"))
    interfaces = addresses.Assign(devices)
    ns.TrafficControlHelper().Uninstall(devices)
    target = ns.InetSocketAddress(interfaces.GetAddress(1), 5001).ConvertTo()
    server = ns.PacketSinkHelper("ns3::TcpSocketFactory", target).Install(nodes.Get(1))
    client = ns.BulkSendHelper("ns3::TcpSocketFactory", target)
    client.SetAttribute("MaxBytes", ns.UintegerValue(0))
    client.SetAttribute("SendSize", ns.UintegerValue(65536))
    client.Install(nodes.Get(0))
    ns.Simulator.Stop(ns.Seconds(seconds))
    before = time.process_time()
    ns.Simulator.Run()
    used = time.process_time() - before
    received = server.Get(0).GetObject[ns.PacketSink]().__deref__().GetTotalRx()
    ns.Simulator.Destroy()
    return {"processor_s": used, "bytes": received}


if __name__ == "__main__":
    print(json.dumps(main(float(sys.argv[1]))))
