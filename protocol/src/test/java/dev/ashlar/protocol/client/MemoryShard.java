package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** One shard of a {@link MemoryShardStore}: its blocks, its intents, and what was folded. */
final class MemoryShard {
  private static final int BLOCK = Profile.BLOCK_BYTES;

  /**
   * @param altered for a block of the shard proper, the last revision that changed bytes which were
   *     there before; for an intent's, 1 if it does
   */
  private record Block(byte[] bytes, long altered) {}

  /** What an attempt wrote; {@code after}: the last change of the shard that it builds on. */
  private record Intent(long after, TreeMap<Long, Block> blocks) {}

  private final ShardId id;
  private final TreeMap<Long, Block> blocks = new TreeMap<>();
  private final Map<AttemptId, Intent> intents = new HashMap<>();
  private long folded;
  private long reads;
  private long readBytes;

  MemoryShard(ShardId id) {
    this.id = id;
  }

  /** With the same blocks and intents, which never change themselves. */
  MemoryShard copy() {
    MemoryShard copy = new MemoryShard(id);
    copy.blocks.putAll(blocks);
    intents.forEach(
        (attempt, intent) ->
            copy.intents.put(attempt, new Intent(intent.after, new TreeMap<>(intent.blocks))));
    copy.folded = folded;
    return copy;
  }

  boolean hasBlocks() {
    return !blocks.isEmpty();
  }

  Set<AttemptId> attempts() {
    return Set.copyOf(intents.keySet());
  }

  long reads() {
    return reads;
  }

  long readBytes() {
    return readBytes;
  }

  long storedBytes() {
    long sum = blocks.values().stream().mapToLong(block -> block.bytes.length).sum();
    for (Intent intent : intents.values()) {
      sum += intent.blocks.values().stream().mapToLong(block -> block.bytes.length).sum();
    }
    return sum;
  }

  void write(ShardWrite write) throws ShardException {
    for (Piece piece : pieces(write.offset(), write.payload(), write.blockCrcs())) {
      blocks.put(piece.block, new Block(piece.bytes, 0));
    }
  }

  /** The bytes as of the view. */
  byte[] read(ShardView view, long offset, int length) throws ShardException {
    checkHas(view);
    byte[] bytes = new byte[length];
    long first = offset / BLOCK;
    long last = (offset + length - 1) / BLOCK;
    long touched = 0;
    for (long number = first; number <= last; number++) {
      byte[] block = block(view, number);
      int from = (int) (Math.max(offset, number * BLOCK) - number * BLOCK);
      int to = (int) (Math.min(offset + length, (number + 1) * BLOCK) - number * BLOCK);
      if (to > block.length) {
        throw missing("block " + number + " from " + block.length);
      }
      System.arraycopy(block, from, bytes, (int) (number * BLOCK + from - offset), to - from);
      touched += block.length;
    }
    reads++;
    readBytes += touched;
    return bytes;
  }

  void prepare(ShardIntent intent, ParityUpdate code) throws ShardException {
    ShardIntent.Target target = intent.target();
    checkHas(target.base());
    TreeMap<Long, Block> made = new TreeMap<>();
    Set<Long> read = new HashSet<>();
    switch (intent) {
      case ShardIntent.Bytes bytes -> {
        for (Piece piece : pieces(bytes.offset(), bytes.payload(), bytes.crcs())) {
          byte[] image = image(target, piece, made, read, isPartial(target, piece));
          System.arraycopy(piece.bytes, 0, image, piece.from, piece.bytes.length);
        }
      }
      case ShardIntent.Deltas deltas -> {
        for (ShardIntent.Delta delta : deltas.deltas()) {
          for (Piece piece : pieces(delta.offset(), delta.bytes(), delta.crcs())) {
            byte[] image = image(target, piece, made, read, true);
            add(code, deltas, delta.dataShard(), piece, image);
          }
        }
      }
    }
    countReads(read);
    Intent stored =
        intents.computeIfAbsent(
            target.attempt(), attempt -> new Intent(target.base().lastChange(), new TreeMap<>()));
    for (long number : made.keySet()) {
      if (stored.blocks.containsKey(number)) {
        throw new IllegalArgumentException(target + ": block " + number + " for the second time");
      }
    }
    stored.blocks.putAll(made);
  }

  void fold(AttemptId attempt, long revision, long comesAfter) throws ShardException {
    if (revision <= folded) {
      return;
    }
    Intent intent = intents.get(attempt);
    if (intent == null || intent.after > folded || comesAfter > folded) {
      throw missing("nothing of " + attempt + " to fold on " + folded);
    }
    intent.blocks.forEach(
        (number, block) -> {
          Block old = blocks.get(number);
          long before = old == null ? 0 : old.altered;
          blocks.put(number, new Block(block.bytes, block.altered > 0 ? revision : before));
        });
    intents.remove(attempt);
    folded = revision;
  }

  void drop(AttemptId attempt) {
    intents.remove(attempt);
  }

  private void checkHas(ShardView view) throws ShardException {
    if (folded < view.folded()) {
      throw missing("folded up to " + folded + ", not " + view.folded());
    }
    for (CommittedAttempt attempt : view.unfolded()) {
      if (attempt.revision() > folded && !intents.containsKey(attempt.attempt())) {
        throw missing("nothing of " + attempt);
      }
    }
  }

  private byte[] block(ShardView view, long number) throws ShardException {
    for (CommittedAttempt attempt : view.unfolded().reversed()) {
      Intent intent = intents.get(attempt.attempt());
      if (attempt.revision() > folded && intent != null && intent.blocks.containsKey(number)) {
        return intent.blocks.get(number).bytes;
      }
    }
    Block block = blocks.get(number);
    if (block == null) {
      throw missing("block " + number);
    }
    if (block.altered > view.revision()) {
      throw new ShardException(
          ShardFault.REVISION_GONE, id + " block " + number + " of revision " + view.revision());
    }
    return block.bytes;
  }

  /** How many bytes of the block there were at the base. */
  private static int existing(ShardIntent.Target target, long block) {
    return Math.clamp(target.baseLength() - block * BLOCK, 0, BLOCK);
  }

  private static boolean isPartial(ShardIntent.Target target, Piece piece) {
    int existing = existing(target, piece.block);
    return existing > 0 && (piece.from > 0 || piece.to() < existing);
  }

  /** The block as it will be, so far; noted in {@code made}. */
  private byte[] image(
      ShardIntent.Target target,
      Piece piece,
      Map<Long, Block> made,
      Set<Long> read,
      boolean needsOld)
      throws ShardException {
    int existing = existing(target, piece.block);
    Block before = made.get(piece.block);
    byte[] image = new byte[0];
    if (before != null) {
      image = before.bytes;
    } else if (needsOld && existing > 0) {
      image = Arrays.copyOf(block(target.base(), piece.block), existing);
      read.add(piece.block);
    }
    image = Arrays.copyOf(image, Math.max(Math.max(image.length, existing), piece.to()));
    boolean alters = piece.from < existing || (before != null && before.altered > 0);
    made.put(piece.block, new Block(image, alters ? 1 : 0));
    return image;
  }

  private static void add(
      ParityUpdate code, ShardIntent.Deltas deltas, int dataShard, Piece piece, byte[] image) {
    ByteBuffer delta = ByteBuffer.allocateDirect(piece.bytes.length).put(piece.bytes).flip();
    ByteBuffer parity = ByteBuffer.allocateDirect(piece.bytes.length);
    parity.put(image, piece.from, piece.bytes.length).flip();
    code.apply(deltas.profile(), dataShard, deltas.parityRow(), delta, parity);
    parity.get(parity.position(), image, piece.from, piece.bytes.length);
  }

  /** Neighbours count as one read. */
  private void countReads(Set<Long> read) {
    for (long number : read) {
      readBytes += BLOCK;
      reads += read.contains(number - 1) ? 0 : 1;
    }
  }

  private ShardException missing(@Nullable String what) {
    return new ShardException(ShardFault.MISSING, id + ": " + what);
  }

  /** The part of a range that lies in one block. */
  private record Piece(long block, int from, byte[] bytes) {
    int to() {
      return from + bytes.length;
    }
  }

  private List<Piece> pieces(long offset, ByteBuffer payload, int[] crcs) throws ShardException {
    List<Piece> pieces = new ArrayList<>();
    ByteBuffer left = payload.duplicate();
    long at = offset;
    for (int crc : crcs) {
      int from = (int) (at % BLOCK);
      byte[] bytes = new byte[Math.min(BLOCK - from, left.remaining())];
      left.get(bytes);
      CRC32C sum = new CRC32C();
      sum.update(bytes);
      if ((int) sum.getValue() != crc) {
        throw new ShardException(ShardFault.CORRUPT, id + ": payload and checksum at " + at);
      }
      pieces.add(new Piece(at / BLOCK, from, bytes));
      at += bytes.length;
    }
    return pieces;
  }
}
