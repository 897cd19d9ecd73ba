from __future__ import annotations

from typing import Any

from formats_corpus import own

from fourplane.formats.model import Reading, Status
from fourplane.formats.nodes import ethtool, ib_guid_map, ibdev2netdev, ibnetdiscover, ibstat, perfquery, perftest


def _codes(reading: Reading[Any]) -> list[str]:
    return [note.code for note in reading.notes]


def test_ibstat() -> None:
    reading = ibstat.read(own("nodes/ibstat_two_ports.txt"))
    summary = ibstat.summarise(reading)
    assert (reading.status, summary["cas"], summary["active_ports"]) == (Status.COMPLETE, 2, 1)
    assert (summary["ports"][0]["rate_gb_per_s"], _codes(reading)) == (400, ["ib-port-not-active"])


def test_ibstat_that_died_or_was_cut() -> None:
    text = own("nodes/ibstat_two_ports.txt")
    assert ibstat.read(text + "ibpanic: [1] main: stat of IB device 'mlx5_2' failed\n").status is Status.FAILED
    assert ibstat.read(text[: text.index("\t\tBase lid: 0")]).status is Status.TRUNCATED
    assert ibstat.read(text.replace("Number of ports: 1", "Number of ports: 2")).status is Status.TRUNCATED


def test_ibdev2netdev_says_nothing_about_links() -> None:
    reading = ibdev2netdev.read(own("nodes/ibdev2netdev.txt"))
    summary = ibdev2netdev.summarise(reading)
    assert (reading.count, summary["infiniband"]) == (4, ["mlx5_0", "mlx5_3", "mlx5_10"])
    assert (summary["ethernet"], summary["netdev_down"], reading.notes) == (["mlx5_2"], 2, [])
    assert ibdev2netdev.read("mlx5_0 port 1 ==> ib0 (Up)\nnonsense\n").status is Status.TRUNCATED


def test_guids_stay_text() -> None:
    summary = ib_guid_map.summarise(ib_guid_map.read(own("nodes/ib_guid_map.txt")))
    assert summary["guids"] == {"node-a": "0000000000000012", "node-b": "abcdef0123456789"}
    reading = ib_guid_map.read("VM_hostname a\nVM_hostname b\n0000000000000001\n")
    assert (reading.count, [one.line for one in reading.refusals]) == (1, [1])


def test_perfquery() -> None:
    reading = perfquery.read(own("nodes/perfquery.txt"))
    summary = perfquery.summarise(reading)
    assert (summary["errors"], summary["ports"][0]["xmit_wait"]) == (5, 55)
    assert _codes(reading) == ["ib-port-errors", "ib-port-errors"]
    assert perfquery.read(own("nodes/perfquery.txt")[:-3]).status is Status.TRUNCATED


def test_ibnetdiscover_counts_cables_and_not_lines() -> None:
    reading = ibnetdiscover.read(own("nodes/ibnetdiscover_topology.txt"))
    summary = ibnetdiscover.summarise(reading)
    assert (reading.count, summary["port_lines"], summary["links"], summary["hosts"]) == (2, 4, 3, 3)
    assert "n2 mlx5_0 port 1: 4xHDR, most links 4xNDR" in reading.notes[0].text


def test_ibnetdiscover_port_list_and_ports_without_peer() -> None:
    reading = ibnetdiscover.read(own("nodes/ibnetdiscover_ports.txt"))
    summary = ibnetdiscover.summarise(reading)
    assert (summary["layout"], summary["links"], summary["host_links"]) == ("port-list", 1, 1)
    assert (summary["ports_without_peer"], reading.notes) == ([{"switch": "leaf-1", "port": 9}], [])


def test_ibnetdiscover_record_that_was_begun_is_refused() -> None:
    text = own("nodes/ibnetdiscover_topology.txt")
    reading = ibnetdiscover.read(text[: text.index("Ca\t1")])
    assert (reading.status, [one.line for one in reading.refusals]) == (Status.TRUNCATED, [11, 12, 13, 14])


def test_bandwidth_in_gigabits_becomes_the_same_unit() -> None:
    reading = perftest.read_bandwidth(own("nodes/ib_write_bw.txt"))
    summary = perftest.summarise_bandwidth(reading)
    assert (reading.count, summary["qps"], summary["mtu_bytes"], summary["link"]) == (2, 4, 4096, "Ethernet")
    assert round(summary["bw_peak_max_mb_per_s"] * 2**20 * 8 / 1e9, 6) == 392.10
    assert (summary["bw_peak_max_size_bytes"], summary["loopback"]) == (65536, None)


def test_both_ends_in_one_file_are_one_result() -> None:
    text = own("nodes/ib_write_bw.txt").replace("LID 0000", "LID 0x7")
    reading = perftest.read_bandwidth(text + text)
    assert (reading.count, _codes(reading)) == (2, ["perftest-loopback"])


def test_perftest_that_failed_or_was_cut() -> None:
    text = own("nodes/ib_write_bw.txt")
    assert perftest.read_bandwidth(text + "Couldn't connect to n2:18515\n").status is Status.FAILED
    assert perftest.read_bandwidth(text[: text.rindex("391.00")]).status is Status.TRUNCATED
    assert perftest.read_bandwidth(text[: text.rindex("-----\n") - 90]).status is Status.TRUNCATED


def test_latency_is_its_own_kind() -> None:
    text = own("nodes/ib_write_lat.txt")
    assert (perftest.sniff_latency(text), perftest.sniff_bandwidth(text)) == (0.95, 0.0)
    summary = perftest.summarise_latency(perftest.read_latency(text))
    assert (summary["lat_typical_us"], summary["lat_p99_us"], summary["test"]) == (1.86, 2.1, "RDMA_Write Latency Test")


def test_ethtool() -> None:
    reading = ethtool.read(own("nodes/ethtool.txt"))
    ports = ethtool.summarise(reading)["ports"]
    assert [(one["speed_mbps"], one["link"]) for one in ports] == [(100000, True), (None, False)]
    assert _codes(reading) == ["ethtool-no-link"]
    assert ethtool.read("Settings for eth0:\n\tSpeed: 1000Mb/s\n").status is Status.TRUNCATED


def test_ethtool_statistics_and_driver() -> None:
    reading = ethtool.read(own("nodes/ethtool_statistics.txt"))
    assert ethtool.summarise(reading)["ports"][0]["errors"] == {"rx_discards_phy": 7, "out_of_buffer": 3}
    driver = ethtool.read("driver: mlx5_core\nfirmware-version: 28.40.1000 (X)\nsupports-statistics: yes\n")
    assert ethtool.summarise(driver)["ports"][0]["firmware"] == "28.40.1000 (X)"
