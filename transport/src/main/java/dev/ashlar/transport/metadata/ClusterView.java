package dev.ashlar.transport.metadata;

import dev.ashlar.protocol.message.ClusterState;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The placement map and the drives at one moment. */
record ClusterView(@Nullable PlacementMap placement, Map<UUID, DriveId> drives) {
  static final ClusterView NONE = new ClusterView(null, Map.of());

  static ClusterView of(ClusterState state) {
    return new ClusterView(
        state.hasPgMap() ? PlacementMap.of(state.getPgMap()) : null,
        state.getDrivesList().stream()
            .map(DriveId::of)
            .collect(Collectors.toUnmodifiableMap(DriveId::id, Function.identity())));
  }

  /** Whether it is as new as the other: neither epochs nor incarnations go back. */
  boolean isNotBefore(ClusterView other) {
    return epoch() >= other.epoch() && other.drives.values().stream().allMatch(this::hasNoOlder);
  }

  private boolean hasNoOlder(DriveId known) {
    DriveId here = drives.get(known.id());
    return here != null && here.incarnation() >= known.incarnation();
  }

  private long epoch() {
    return placement == null ? 0 : placement.epoch();
  }
}
