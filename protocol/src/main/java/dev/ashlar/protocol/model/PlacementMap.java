package dev.ashlar.protocol.model;

import java.util.List;
import java.util.UUID;

/**
 * Which drive serves each slot of each placement group.
 *
 * @param epoch counts up with every change
 * @param slotDrives per placement group, per slot (k + m of them), the drive
 */
public record PlacementMap(long epoch, Profile profile, List<List<UUID>> slotDrives) {
  public PlacementMap {
    slotDrives = slotDrives.stream().map(List::copyOf).toList();
    if (slotDrives.isEmpty()) {
      throw new IllegalArgumentException("a placement map needs a placement group");
    }
    for (List<UUID> slots : slotDrives) {
      if (slots.size() != profile.shards() || slots.stream().distinct().count() != slots.size()) {
        throw new IllegalArgumentException(
            "needs " + profile.shards() + " distinct drives: " + slots);
      }
    }
  }

  public int pgCount() {
    return slotDrives.size();
  }

  public UUID drive(int pg, int slot) {
    return slotDrives.get(pg).get(slot);
  }
}
