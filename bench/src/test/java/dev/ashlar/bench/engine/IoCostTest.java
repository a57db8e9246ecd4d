package dev.ashlar.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.Profile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every cell of the table of {@code io-cost}: what real drives count is what counting blocks one by
 * one comes to.
 */
@Execution(ExecutionMode.CONCURRENT)
class IoCostTest {
  private static final LocalEngine.Memory MEMORY = LocalEngine.Memory.ofAServer();

  @TempDir private Path folder = Path.of("");

  static Stream<List<String>> stores() {
    return IoCostCommand.stores(IoCostCommand.SHAPES).stream();
  }

  @ParameterizedTest
  @MethodSource("stores")
  void drivesCountWhatTheFormulaSays(List<String> shapes) throws Exception {
    List<Profile> profiles = IoCostCommand.profiles(shapes);
    try (LocalEngine engine = LocalEngine.open(folder.resolve("store"), profiles, MEMORY)) {
      for (String shape : shapes) {
        for (Profile profile : IoCostCommand.modes(shape)) {
          checkRows(shape, profile, engine);
        }
      }
    }
  }

  private static void checkRows(String shape, Profile profile, LocalEngine engine)
      throws Exception {
    for (Access access : Access.values()) {
      for (int bytes : IoCostCommand.sizes(shape)) {
        DriveCounts counted = access.cost(engine, profile, bytes);
        String cell = profile + ", " + access.title() + ", " + bytes;
        assertEquals(expected(profile, access, bytes), Cost.of(counted), cell);
        assertEquals(counted.reads(), counted.fileReads(), cell);
        // What one operation writes to a drive in two steps may be synced together.
        assertTrue(counted.fileWrites() <= counted.writes(), cell);
      }
    }
  }

  private static Cost expected(Profile profile, Access access, int bytes) {
    int offset = access.offset(profile);
    int before = access.objectBytes(profile, bytes);
    return access == Access.READ
        ? readCost(profile, offset, offset + bytes)
        : changeCost(profile, before, offset, offset + bytes);
  }

  private record Cost(long reads, long readBytes, long writes, long writeBytes) {
    static Cost of(DriveCounts counts) {
      return new Cost(counts.reads(), counts.readBytes(), counts.writes(), counts.writeBytes());
    }

    Cost plus(Cost other) {
      return new Cost(
          reads + other.reads,
          readBytes + other.readBytes,
          writes + other.writes,
          writeBytes + other.writeBytes);
    }
  }

  /** One read per strip range; strips of a shard that follow each other are one. */
  private static Cost readCost(Profile profile, int from, int to) {
    int stripe = profile.stripeBytes();
    int begin = profile.isClassic() ? from / stripe * stripe : from;
    int end = profile.isClassic() ? Math.ceilDiv(to, stripe) * stripe : to;
    Cost cost = new Cost(0, 0, 0, 0);
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      int blocks = 0;
      for (int at = begin / Blocks.BLOCK * Blocks.BLOCK; at < end; at += Blocks.BLOCK) {
        blocks += at % stripe / profile.stripeUnit() == slot ? 1 : 0;
      }
      cost = cost.plus(new Cost(blocks > 0 ? 1 : 0, (long) blocks * Blocks.BLOCK, 0, 0));
    }
    return cost;
  }

  /**
   * Stripes that are replaced, and those behind the end, go together and read nothing; one that
   * keeps old bytes goes by itself.
   */
  private static Cost changeCost(Profile profile, int before, int from, int to) {
    int stripe = profile.stripeBytes();
    List<int[]> steps = new ArrayList<>();
    boolean wasWhole = false;
    for (int start = from / stripe * stripe; start < to; start += stripe) {
      int begin = Math.max(from, start);
      int end = Math.min(to, start + stripe);
      boolean isWhole = begin == start && (end == start + stripe || before <= start);
      if (isWhole && wasWhole) {
        steps.getLast()[1] = end;
      } else {
        steps.add(new int[] {begin, end, isWhole ? 1 : 0});
      }
      wasWhole = isWhole;
    }
    Cost cost = new Cost(0, 0, 0, 0);
    for (int[] step : steps) {
      cost =
          cost.plus(
              step[2] == 1
                  ? newStripes(profile, step[1] - step[0])
                  : partCost(profile, before, step[0], step[1]));
    }
    return cost;
  }

  private static Cost newStripes(Profile profile, int bytes) {
    int stripe = profile.stripeBytes();
    long[] shard = new long[profile.shards()];
    for (int at = 0;
        at < (profile.isClassic() ? Math.ceilDiv(bytes, stripe) * stripe : bytes);
        at++) {
      int slot = at % stripe / profile.stripeUnit();
      shard[slot]++;
      for (int parity = profile.dataShards(); slot == 0 && parity < shard.length; parity++) {
        shard[parity]++;
      }
    }
    Cost cost = new Cost(0, 0, 0, 0);
    for (long length : shard) {
      cost = cost.plus(new Cost(0, 0, length > 0 ? 1 : 0, length));
    }
    return cost;
  }

  private static Cost partCost(Profile profile, int before, int from, int to) {
    int k = profile.dataShards();
    int m = profile.parityShards();
    int unit = profile.stripeUnit();
    if (profile.isClassic()) {
      return new Cost(k, (long) k * unit, k + m, (long) (k + m) * unit);
    }
    int start = from / profile.stripeBytes() * profile.stripeBytes();
    Blocks blocks =
        new Blocks(k, m, unit, Math.clamp(before - start, 0, k * unit), from - start, to - start);
    Cost encode = blocks.encode();
    Cost delta = blocks.delta();
    boolean isDelta = encode.reads() > 0 && delta.reads() <= encode.reads();
    return (isDelta ? delta : encode).plus(blocks.writes());
  }

  /** A stripe of which a part changes, block by block. */
  private record Blocks(int k, int m, int unit, int before, int from, int to) {
    static final int BLOCK = 4096;

    /** Bytes of this block of the strip that lie in a range of the stripe. */
    private int count(int slot, int block, int begin, int end) {
      int at = slot * unit + block * BLOCK;
      return Math.max(0, Math.min(end, at + BLOCK) - Math.max(begin, at));
    }

    private boolean isChanged(int slot, int block) {
      return count(slot, block, from, to) > 0;
    }

    /** Whether a block in this place of any strip changes, and so that of the parity. */
    private boolean isInHull(int block) {
      int first = Integer.MAX_VALUE;
      int last = -1;
      for (int each = 0; each < unit / BLOCK; each++) {
        for (int slot = 0; slot < k; slot++) {
          if (isChanged(slot, each)) {
            first = Math.min(first, each);
            last = each;
          }
        }
      }
      return first <= block && block <= last;
    }

    private int old(int slot, int block) {
      return count(slot, block, 0, before);
    }

    private Cost encode() {
      Cost cost = new Cost(0, 0, 0, 0);
      for (int slot = 0; slot < k; slot++) {
        int present = 0;
        boolean isKept = false;
        for (int block = 0; block < unit / BLOCK; block++) {
          if (isInHull(block)) {
            present += old(slot, block);
            int replaced = count(slot, block, from, Math.min(to, before));
            isKept |= old(slot, block) > replaced;
          }
        }
        cost = cost.plus(isKept ? new Cost(1, present, 0, 0) : new Cost(0, 0, 0, 0));
      }
      return cost;
    }

    private Cost delta() {
      Cost cost = new Cost(0, 0, 0, 0);
      int parity = 0;
      for (int block = 0; block < unit / BLOCK; block++) {
        parity += isInHull(block) ? old(0, block) : 0;
      }
      for (int slot = 0; slot < k; slot++) {
        int data = 0;
        for (int block = 0; block < unit / BLOCK; block++) {
          data += isChanged(slot, block) ? old(slot, block) : 0;
        }
        cost = cost.plus(new Cost(data > 0 ? 1 : 0, data, 0, 0));
      }
      return cost.plus(new Cost(parity > 0 ? m : 0, (long) m * parity, 0, 0));
    }

    private Cost writes() {
      int after = Math.max(before, to);
      Cost cost = new Cost(0, 0, 0, 0);
      long parity = 0;
      for (int slot = 0; slot < k; slot++) {
        long data = 0;
        for (int block = 0; block < unit / BLOCK; block++) {
          data += isChanged(slot, block) ? count(slot, block, 0, after) : 0;
        }
        cost = cost.plus(new Cost(0, 0, data > 0 ? 1 : 0, data));
      }
      for (int block = 0; block < unit / BLOCK; block++) {
        parity += isInHull(block) ? count(0, block, 0, after) : 0;
      }
      return cost.plus(new Cost(0, 0, m, m * parity));
    }
  }
}
