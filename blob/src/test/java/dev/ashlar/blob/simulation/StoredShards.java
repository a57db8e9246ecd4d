package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The shards of one blob as they lie on the drives, without what the engine makes of them. */
final class StoredShards {
  private final BlobRow row;
  private final StripeLayout layout;
  private final @Nullable ByteBuffer[] shards;

  StoredShards(BlobRow row) {
    this.row = row;
    layout = BlobRows.layout(row);
    shards = new ByteBuffer[layout.profile().shards()];
  }

  /** Takes what the drive has of this slot; the bytes behind the shard's end count as zeros. */
  void read(int slot, ShardStore drive) throws ShardException, InterruptedException {
    ByteBuffer bytes = ByteBuffer.allocateDirect((int) layout.shardLength(0));
    int length = (int) layout.shardLength(slot);
    if (length > 0) {
      Answer<ShardData> answer = new Answer<>();
      drive.read(ShardId.of(row, slot), BlobRows.view(row, slot), 0, length, answer);
      ShardData data = answer.await();
      bytes.put(data.bytes()).clear();
      data.release();
    }
    shards[slot] = bytes;
  }

  List<Integer> present() {
    List<Integer> present = new ArrayList<>();
    for (int slot = 0; slot < shards.length; slot++) {
      if (shards[slot] != null) {
        present.add(slot);
      }
    }
    return present;
  }

  /** Whether all can be decoded from those that are present. */
  boolean isEnough() {
    return present().size() >= layout.profile().dataShards();
  }

  /** Decodes all shards from k of those that are present and compares the others with that. */
  byte[] data() {
    Profile profile = layout.profile();
    List<Integer> present = present();
    int[] sources = present.stream().limit(profile.dataShards()).mapToInt(i -> i).toArray();
    int[] others =
        IntStream.range(0, shards.length)
            .filter(slot -> Arrays.stream(sources).noneMatch(source -> source == slot))
            .toArray();
    ByteBuffer[] decoded = new ByteBuffer[others.length];
    Arrays.setAll(decoded, i -> ByteBuffer.allocateDirect((int) layout.shardLength(0)));
    ByteBuffer[] given = Arrays.stream(sources).mapToObj(i -> shards[i]).toArray(ByteBuffer[]::new);
    SimulatedProcess.CODES.of(profile).decode(sources, given, others, decoded);
    @Nullable ByteBuffer[] all = shards.clone();
    for (int i = 0; i < others.length; i++) {
      if (all[others[i]] == null) {
        all[others[i]] = decoded[i];
      }
      assertEquals(decoded[i], all[others[i]], "shard " + others[i] + " of " + row);
    }
    byte[] data = new byte[(int) row.getLength()];
    for (int at = 0; at < data.length; at++) {
      ByteBuffer shard = all[layout.slotOf(at)];
      data[at] = shard == null ? 0 : shard.get((int) layout.shardOffsetOf(at));
    }
    return data;
  }
}
