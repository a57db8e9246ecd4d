package dev.ashlar.it.cluster;

import java.util.List;
import java.util.stream.Collectors;

/**
 * Something that is done to a cluster, and undone.
 *
 * @param storageNodesAway that do not take part meanwhile
 */
record Fault(String what, int storageNodesAway, Runnable begin, Runnable end) {
  /** All of them at the same time. */
  static Fault all(List<Fault> faults) {
    return new Fault(
        faults.stream().map(Fault::what).collect(Collectors.joining(" and ")),
        faults.stream().mapToInt(Fault::storageNodesAway).sum(),
        () -> faults.forEach(fault -> fault.begin().run()),
        () -> faults.forEach(fault -> fault.end().run()));
  }
}
