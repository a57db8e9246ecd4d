package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An index in memory that a crash takes back to any commit since its last checkpoint. */
final class MemoryShardIndex implements ShardIndex {
  private static final Comparator<Key> ORDER =
      Comparator.comparing(Key::blob).thenComparingInt(Key::slot).thenComparingInt(Key::block);

  private record Key(BlobId blob, int slot, int block) {}

  private static final class Content {
    final TreeMap<Key, Extent> extents = new TreeMap<>(ORDER);
    final Map<Long, SegmentUse> uses = new TreeMap<>();
    LogPosition position = LogPosition.START;

    Content copy() {
      Content copy = new Content();
      copy.extents.putAll(extents);
      copy.uses.putAll(uses);
      copy.position = position;
      return copy;
    }
  }

  private Content durable = new Content();
  private Content current = new Content();
  private final List<Consumer<Content>> unsaved = new ArrayList<>();

  /** What a power loss leaves: the last checkpoint and some of the commits after it. */
  void crash(Random random) {
    int kept = random.nextInt(unsaved.size() + 1);
    unsaved.subList(0, kept).forEach(commit -> commit.accept(durable));
    unsaved.clear();
    current = durable.copy();
  }

  /** The whole index is lost. */
  void lose() {
    durable = new Content();
    current = new Content();
    unsaved.clear();
  }

  @Override
  public LogPosition position() {
    return current.position;
  }

  @Override
  public Map<Long, SegmentUse> segments() {
    return Map.copyOf(current.uses);
  }

  @Override
  public @Nullable Extent find(ShardId shard, int block) {
    Map.Entry<Key, Extent> found =
        current.extents.floorEntry(new Key(shard.blob(), shard.slot(), block));
    return found != null
            && found.getKey().blob().equals(shard.blob())
            && found.getKey().slot() == shard.slot()
            && found.getValue().covers(block)
        ? found.getValue()
        : null;
  }

  @Override
  public void forEachExtent(BlobId blob, ExtentVisitor visitor) throws java.io.IOException {
    for (Map.Entry<Key, Extent> entry :
        List.copyOf(current.extents.tailMap(new Key(blob, 0, 0)).entrySet())) {
      if (!entry.getKey().blob().equals(blob)) {
        return;
      }
      visitor.extent(entry.getKey().slot(), entry.getValue());
    }
  }

  @Override
  public void forEachBlobBelow(long session, Consumer<BlobId> visitor) {
    current.extents.keySet().stream()
        .map(Key::blob)
        .distinct()
        .filter(blob -> Long.compareUnsigned(blob.session(), session) < 0)
        .forEach(visitor);
  }

  @Override
  public Update update() {
    return new MemoryUpdate();
  }

  @Override
  public void checkpoint() {
    durable = current.copy();
    unsaved.clear();
  }

  @Override
  public void close() {}

  private final class MemoryUpdate implements Update {
    private final List<Consumer<Content>> changes = new ArrayList<>();

    @Override
    public void put(ShardId shard, Extent extent) {
      changes.add(
          to -> to.extents.put(new Key(shard.blob(), shard.slot(), extent.firstBlock()), extent));
    }

    @Override
    public void remove(BlobId blob, int slot, int firstBlock) {
      changes.add(to -> to.extents.remove(new Key(blob, slot, firstBlock)));
    }

    @Override
    public void use(long segment, SegmentUse use) {
      changes.add(to -> to.uses.put(segment, use));
    }

    @Override
    public void forget(long segment) {
      changes.add(to -> to.uses.remove(segment));
    }

    @Override
    public void commit(LogPosition position) {
      Consumer<Content> all =
          to -> {
            changes.forEach(change -> change.accept(to));
            to.position = position;
          };
      all.accept(current);
      unsaved.add(all);
    }
  }
}
