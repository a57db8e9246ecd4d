package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.state.blob.Folding;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What changes of objects come to, in the simplest way: an object is an array in which every byte
 * says which byte of which blob it is, and a blob remembers all of its revisions for ever.
 */
final class ChangesModel {
  private final Profile profile;
  private final int debtsMax;

  /** The bytes of each object. */
  final Map<String, long[]> objects = new TreeMap<>();

  final Map<String, Long> versions = new HashMap<>();
  private final Map<BlobId, Blob> blobs = new TreeMap<>();

  ChangesModel(Profile profile) {
    this.profile = profile;
    this.debtsMax = profile.shards() - profile.durableMinimum();
  }

  private record Revision(long attempt, long first, long last, SortedSet<Integer> slots) {}

  /** Revision r is {@code revisions.get(r - 1)}. */
  private static final class Blob {
    long length;
    int folded;
    boolean isForgotten;
    long rewritten;
    final List<Revision> revisions = new ArrayList<>();
    final TreeSet<Integer> debts = new TreeSet<>();
    final List<Long> foldedBySlot = new ArrayList<>();
  }

  private Blob blob(BlobId id) {
    Blob blob = blobs.get(id);
    if (blob == null) {
      throw new AssertionError("no blob " + id);
    }
    return blob;
  }

  private static long at(BlobId blob, long offset) {
    return blob.sequence() << 32 | offset;
  }

  static long[] bytes(BlobId blob, long offset, long length) {
    long[] bytes = new long[(int) length];
    Arrays.setAll(bytes, i -> at(blob, offset + i));
    return bytes;
  }

  /** The new blob's bytes. */
  long[] add(NewBlob blob) {
    Blob added = new Blob();
    added.length = blob.getLength();
    BlobId id = BlobId.of(blob.getId());
    blobs.put(id, added);
    return bytes(id, 0, blob.getLength());
  }

  void forget(BlobId id) {
    blob(id).isForgotten = true;
  }

  private SortedSet<Integer> touched(long offset, long length) {
    SortedSet<Integer> slots = new TreeSet<>();
    for (long at = offset; at < offset + length; at++) {
      slots.add((int) (at % profile.stripeBytes() / profile.stripeUnit()));
    }
    for (int slot = profile.dataShards(); slot < profile.shards(); slot++) {
      slots.add(slot);
    }
    return slots;
  }

  private static SortedSet<Integer> debts(
      Blob blob, Collection<Integer> touched, List<SlotAck> acks) {
    TreeSet<Integer> debts = new TreeSet<>(touched);
    acks.forEach(ack -> debts.remove(ack.getSlot()));
    debts.addAll(blob.debts);
    return debts;
  }

  /** What the command is answered now, given how many slices refer to each blob. */
  ResultCode answer(ModifyObject command, Map<BlobId, Long> references) {
    long[] present = objects.get(command.getKey());
    if (present == null) {
      return ResultCode.NO_SUCH_KEY;
    }
    long position = command.getOffset();
    if (command.getAppend() ? position != present.length : position > present.length) {
      return ResultCode.INVALID_OFFSET;
    }
    long expected = command.getExpectedVersion();
    if (expected != 0 && expected != versions.getOrDefault(command.getKey(), 0L)) {
      return ResultCode.CONDITIONAL_CONFLICT;
    }
    for (ObjectPiece piece : command.getPiecesList()) {
      if (piece.hasChange()) {
        ResultCode code = answer(piece.getChange(), present, position, references);
        if (code != ResultCode.OK) {
          return code;
        }
        position += piece.getChange().getLength();
      } else if (position < present.length && expected == 0) {
        return ResultCode.CONDITIONAL_CONFLICT;
      } else {
        position += piece.getBlob().getLength();
      }
    }
    return ResultCode.OK;
  }

  private ResultCode answer(
      BlobChange change, long[] present, long position, Map<BlobId, Long> references) {
    BlobId id = BlobId.of(change.getBlob());
    Blob blob = blob(id);
    if (!blob.isForgotten
        && blob.revisions.subList(blob.folded, blob.revisions.size()).stream()
            .anyMatch(done -> done.attempt() == change.getAttempt().getSequence())) {
      return ResultCode.INVALID_COMMAND;
    }
    long first = change.getOffset() / profile.stripeBytes();
    long last = (change.getOffset() + change.getLength() - 1) / profile.stripeBytes();
    if (!fits(change, id, present, position) || references.getOrDefault(id, 0L) != 1) {
      return ResultCode.CONDITIONAL_CONFLICT;
    }
    int base = (int) change.getBaseRevision();
    boolean grows = change.getOffset() + change.getLength() > change.getBaseLength();
    if ((grows && change.getBaseLength() != blob.length)
        || base < blob.folded - Folding.REMEMBERED_MAX
        || blob.revisions.subList(base, blob.revisions.size()).stream()
            .anyMatch(later -> later.first() <= last && first <= later.last())) {
      return ResultCode.CONDITIONAL_CONFLICT;
    }
    if (blob.revisions.size() - blob.folded >= 32) {
      return ResultCode.TOO_MANY_UNFOLDED;
    }
    SortedSet<Integer> touched = touched(change.getOffset(), change.getLength());
    return debts(blob, touched, change.getAcksList()).size() > debtsMax
        ? ResultCode.NOT_DURABLE
        : ResultCode.OK;
  }

  /** Whether the object has these bytes of the blob here and, where it grows, nothing behind. */
  private boolean fits(BlobChange change, BlobId id, long[] present, long position) {
    long end = change.getOffset() + change.getLength();
    long old = Math.min(end, change.getBaseLength()) - change.getOffset();
    if (position + old > present.length
        || !Arrays.equals(
            present,
            (int) position,
            (int) (position + old),
            bytes(id, change.getOffset(), old),
            0,
            (int) old)) {
      return false;
    }
    return end <= change.getBaseLength()
        || (position + old == present.length
            && present.length > 0
            && present[present.length - 1] == at(id, blob(id).length - 1));
  }

  /** What an accepted command makes. */
  void apply(ModifyObject command, long version) {
    long[] before = objects.getOrDefault(command.getKey(), new long[0]);
    int position = (int) command.getOffset();
    long[] after =
        Arrays.copyOf(before, (int) Math.max(before.length, position + command.getLength()));
    for (ObjectPiece piece : command.getPiecesList()) {
      long[] bytes;
      if (piece.hasChange()) {
        BlobChange change = piece.getChange();
        bytes = bytes(BlobId.of(change.getBlob()), change.getOffset(), change.getLength());
        commit(change, version);
      } else {
        bytes = add(piece.getBlob());
      }
      System.arraycopy(bytes, 0, after, position, bytes.length);
      position += bytes.length;
    }
    objects.put(command.getKey(), after);
    versions.put(command.getKey(), version);
  }

  private void commit(BlobChange change, long version) {
    Blob blob = blob(BlobId.of(change.getBlob()));
    long end = change.getOffset() + change.getLength();
    SortedSet<Integer> touched = touched(change.getOffset(), change.getLength());
    blob.debts.addAll(debts(blob, touched, change.getAcksList()));
    blob.revisions.add(
        new Revision(
            change.getAttempt().getSequence(),
            change.getOffset() / profile.stripeBytes(),
            (end - 1) / profile.stripeBytes(),
            touched));
    if (change.getOffset() < blob.length) {
      blob.rewritten = version;
    }
    blob.length = Math.max(blob.length, end);
  }

  /** Applies a fold of a referenced blob, unless it is refused. */
  ResultCode fold(FoldBlob command) {
    Blob blob = blob(BlobId.of(command.getBlob()));
    SortedSet<Integer> touched = new TreeSet<>();
    for (int i = blob.folded; i < command.getRevision(); i++) {
      touched.addAll(blob.revisions.get(i).slots());
    }
    SortedSet<Integer> debts = debts(blob, touched, command.getAcksList());
    if (!touched.isEmpty() && debts.size() > debtsMax) {
      return ResultCode.NOT_DURABLE;
    }
    if (!touched.isEmpty() && blob.foldedBySlot.isEmpty()) {
      for (int slot = 0; slot < profile.shards(); slot++) {
        blob.foldedBySlot.add(0L);
      }
    }
    blob.debts.addAll(debts);
    for (; blob.folded < command.getRevision(); blob.folded++) {
      long revision = blob.folded + 1L;
      blob.revisions.get(blob.folded).slots().forEach(s -> blob.foldedBySlot.set(s, revision));
    }
    return ResultCode.OK;
  }

  /** How many slices refer to each blob. */
  Map<BlobId, Long> references(MetadataClient metadata) throws Exception {
    Map<BlobId, Long> references = new HashMap<>();
    for (String key : objects.keySet()) {
      for (SliceValue slice : metadata.object("b", key).orElseThrow().object().getSlicesList()) {
        references.merge(BlobId.of(slice.getBlob()), 1L, Long::sum);
      }
    }
    return references;
  }

  void check(MetadataClient metadata) throws Exception {
    for (Map.Entry<String, long[]> object : objects.entrySet()) {
      ObjectRead read = metadata.object("b", object.getKey()).orElseThrow();
      assertEquals(object.getValue().length, read.object().getSummary().getSize());
      assertEquals(versions.get(object.getKey()), read.object().getVersion());
      long[] bytes =
          read.object().getSlicesList().stream()
              .map(s -> bytes(BlobId.of(s.getBlob()), s.getOffset(), s.getLength()))
              .flatMapToLong(Arrays::stream)
              .toArray();
      assertArrayEquals(object.getValue(), bytes);
    }
    Map<BlobId, Long> references = references(metadata);
    List<BlobId> unfolded = new ArrayList<>();
    for (Map.Entry<BlobId, Blob> blob : blobs.entrySet()) {
      List<BlobRow> rows = metadata.blobs(List.of(blob.getKey()));
      long referring = references.getOrDefault(blob.getKey(), 0L);
      assertEquals(blob.getValue().isForgotten, rows.isEmpty());
      assertEquals(referring, rows.isEmpty() ? 0 : rows.getFirst().getReferences());
      if (referring > 0) {
        check(blob.getValue(), rows.getFirst());
        if (rows.getFirst().getAttemptsCount() > 0) {
          unfolded.add(blob.getKey());
        }
      }
    }
    assertEquals(
        unfolded,
        metadata.unfolded(null, 1_000_000).stream().map(row -> BlobId.of(row.getId())).toList());
  }

  private static void check(Blob blob, BlobRow row) {
    assertEquals(blob.length, row.getLength());
    assertEquals(blob.revisions.size(), row.getRevision());
    assertEquals(blob.rewritten, row.getRewritten());
    assertEquals(List.copyOf(blob.debts), row.getDebtSlotsList());
    assertEquals(blob.foldedBySlot, row.getFoldedList());
    assertEquals(blob.revisions.size() - blob.folded, row.getAttemptsCount());
    long revision = blob.folded;
    for (AttemptRow attempt : row.getAttemptsList()) {
      Revision expected = blob.revisions.get((int) revision++);
      assertEquals(revision, attempt.getRevision());
      assertEquals(expected.attempt(), attempt.getId().getSequence());
      assertEquals(expected.first(), attempt.getFirstStripe());
      assertEquals(expected.last(), attempt.getLastStripe());
      assertEquals(List.copyOf(expected.slots()), attempt.getSlotsList());
    }
  }
}
