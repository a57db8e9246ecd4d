package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.DebtKind;
import dev.ashlar.protocol.message.DebtLevel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Tells blobs in debt from those that only have to move. A level has the blobs that can lose so
 * many more shards: those of a profile with more parity lack some, those of a profile with as much
 * have all and are to be moved.
 */
public final class DebtLevels {
  private DebtLevels() {}

  /** The blobs that lack shards, by level; levels without such blobs are left out. */
  public static List<DebtLevel> inDebt(List<DebtLevel> levels, PlacementMap map) {
    List<DebtLevel> parts = new ArrayList<>();
    for (DebtLevel level : levels) {
      add(parts, level, number -> level.getSpare() < parity(map, number));
    }
    return parts;
  }

  /** The blobs that have all shards, some of them in the wrong place. */
  public static List<DebtLevel> moving(List<DebtLevel> levels, PlacementMap map) {
    List<DebtLevel> parts = new ArrayList<>();
    for (DebtLevel level : levels) {
      add(parts, level, number -> level.getSpare() >= parity(map, number));
    }
    return parts;
  }

  /** Whether this level's blob is of this kind. */
  public static boolean isOfKind(DebtKind kind, int spare, BlobId blob, PlacementMap map) {
    boolean lacks = spare < parity(map, blob.profile());
    return switch (kind) {
      case DEBT_LACKING -> lacks;
      case DEBT_MOVING -> !lacks;
      case DEBT_ANY, UNRECOGNIZED -> true;
    };
  }

  /** A map that does not have the profile yet is older than the level: blobs may lack shards. */
  private static int parity(PlacementMap map, int number) {
    return number < map.profiles().size()
        ? map.profiles().get(number).profile().parityShards()
        : Integer.MAX_VALUE;
  }

  /** Adds the part of a level that is of these profiles, if there is any. */
  private static void add(List<DebtLevel> parts, DebtLevel level, IntPredicate numbers) {
    long blobs = 0;
    long bytes = 0;
    long blobsOfFirst = level.getBlobs();
    long bytesOfFirst = level.getBytes();
    for (DebtLevel.OfProfile part : level.getAddedList()) {
      blobsOfFirst -= part.getBlobs();
      bytesOfFirst -= part.getBytes();
      if (numbers.test(part.getNumber())) {
        blobs += part.getBlobs();
        bytes += part.getBytes();
      }
    }
    if (numbers.test(0)) {
      blobs += blobsOfFirst;
      bytes += bytesOfFirst;
    }
    if (blobs > 0) {
      parts.add(
          DebtLevel.newBuilder()
              .setSpare(level.getSpare())
              .setBlobs(blobs)
              .setBytes(bytes)
              .build());
    }
  }
}
