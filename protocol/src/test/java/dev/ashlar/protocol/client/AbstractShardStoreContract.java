package dev.ashlar.protocol.client;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** What every {@link ShardStore} does. */
public abstract class AbstractShardStoreContract extends AbstractFreshShardStore {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  protected static final ShardId SHARD = new ShardId(new BlobId(7, 1), 0);

  @Test
  void whatWasWrittenIsReadBack() throws Exception {
    for (int length : new int[] {1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 65_536, 300_001}) {
      ShardId shard = new ShardId(new BlobId(7, length), 3);
      byte[] bytes = randomBytes(length);
      assertEquals(store.drive(), put(shard, 0, bytes));
      assertArrayEquals(bytes, get(shard, 0, length), "length " + length);
    }
    assertTrue(store.isWritable());
  }

  @Test
  void anyRangeIsReadBack() throws Exception {
    byte[] bytes = randomBytes(5 * BLOCK + 123);
    put(SHARD, 0, bytes);
    for (int offset : new int[] {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 5 * BLOCK + 122}) {
      for (int length : new int[] {1, 2, BLOCK, BLOCK + 1, 2 * BLOCK, 4 * BLOCK + 5}) {
        if (offset + length <= bytes.length) {
          assertArrayEquals(
              Arrays.copyOfRange(bytes, offset, offset + length), get(SHARD, offset, length));
        }
      }
    }
  }

  @Test
  void aShardWrittenInPiecesIsReadAcrossThem() throws Exception {
    byte[] bytes = randomBytes(40 * BLOCK + 10);
    int[] cuts = {0, BLOCK, 4 * BLOCK, 20 * BLOCK, 40 * BLOCK, bytes.length};
    for (int i = cuts.length - 2; i >= 0; i--) {
      put(SHARD, cuts[i], Arrays.copyOfRange(bytes, cuts[i], cuts[i + 1]));
    }
    assertArrayEquals(bytes, get(SHARD, 0, bytes.length));
    assertArrayEquals(
        Arrays.copyOfRange(bytes, 3 * BLOCK + 5, 40 * BLOCK + 7),
        get(SHARD, 3 * BLOCK + 5, 37 * BLOCK + 2));
  }

  @Test
  void whatIsNotThereIsMissing() throws Exception {
    assertEquals(ShardFault.MISSING, readFault(SHARD, 0, 1));
    put(SHARD, 0, randomBytes(BLOCK + 10));
    put(SHARD, 4 * BLOCK, randomBytes(BLOCK));
    assertEquals(ShardFault.MISSING, readFault(SHARD, BLOCK, 11));
    assertEquals(ShardFault.MISSING, readFault(SHARD, BLOCK + 10, 1));
    assertEquals(ShardFault.MISSING, readFault(SHARD, 0, 5 * BLOCK));
    assertEquals(ShardFault.MISSING, readFault(SHARD, 5 * BLOCK, 1));
    assertEquals(ShardFault.MISSING, readFault(new ShardId(SHARD.blob(), 1), 0, 1));
    assertEquals(ShardFault.MISSING, readFault(new ShardId(new BlobId(7, 2), 0), 0, 1));
  }

  @Test
  void aPayloadThatDoesNotMatchItsChecksumsIsRefused() {
    byte[] bytes = randomBytes(3 * BLOCK);
    int[] crcs = crcs(bytes);
    crcs[1] ^= 1;
    Answer<DriveId> answer = new Answer<>();
    store.write(new ShardWrite(SHARD, 0, direct(bytes), crcs), answer);
    assertEquals(ShardFault.CORRUPT, answer.awaitFault());
    assertEquals(ShardFault.MISSING, readFault(SHARD, 0, 1));
  }

  @Test
  void deletedBlobsLoseAllTheirShards() throws Exception {
    BlobId kept = new BlobId(7, 3);
    ShardId other = new ShardId(SHARD.blob(), 4);
    put(SHARD, 0, randomBytes(BLOCK));
    put(SHARD, BLOCK, randomBytes(BLOCK));
    put(other, 0, randomBytes(10));
    put(new ShardId(kept, 0), 0, randomBytes(10));
    delete(List.of(SHARD.blob(), new BlobId(9, 9)));
    assertEquals(ShardFault.MISSING, readFault(SHARD, 0, 1));
    assertEquals(ShardFault.MISSING, readFault(SHARD, BLOCK, 1));
    assertEquals(ShardFault.MISSING, readFault(other, 0, 1));
    assertEquals(10, get(new ShardId(kept, 0), 0, 10).length);
  }

  @Test
  void deletingAnAbsentBlobIsNoError() throws Exception {
    delete(List.of(SHARD.blob()));
    delete(List.of());
  }

  @Test
  void blobsBelowASessionAreVisitedInUnsignedOrder() throws Exception {
    List<BlobId> expected =
        List.of(new BlobId(1, 5), new BlobId(7, 1), new BlobId(7, -1), new BlobId(-9, 0));
    for (BlobId blob : expected.reversed()) {
      put(new ShardId(blob, 0), 0, randomBytes(10));
      put(new ShardId(blob, 1), 0, randomBytes(10));
    }
    put(new ShardId(new BlobId(-2, 0), 0), 0, randomBytes(1));
    assertEquals(expected, blobsBelow(-2));
    assertEquals(expected.subList(0, 1), blobsBelow(7));
    assertEquals(List.of(), blobsBelow(1));
    assertEquals(expected.subList(0, 2), store.blobsBelow(-2, null, 2));
    assertEquals(expected.subList(2, 4), store.blobsBelow(-2, expected.get(1), 2));
    assertEquals(List.of(), store.blobsBelow(-2, expected.get(3), 2));
    delete(List.of(expected.get(1)));
    assertEquals(expected.subList(2, 4), store.blobsBelow(-2, expected.get(1), 9));
    assertEquals(expected.subList(2, 4), blobsBelow(-2).subList(1, 3));
  }

  @Test
  void manyAtOnce() throws Exception {
    int count = 500;
    List<Answer<DriveId>> writes = new ArrayList<>();
    List<byte[]> contents = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] bytes = randomBytes(1 + i * 37);
      contents.add(bytes);
      Answer<DriveId> answer = new Answer<>();
      writes.add(answer);
      store.write(shardWrite(new ShardId(new BlobId(8, i), 0), 0, bytes), answer);
    }
    for (Answer<DriveId> answer : writes) {
      answer.await();
    }
    List<Answer<ShardData>> reads = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Answer<ShardData> answer = new Answer<>();
      reads.add(answer);
      store.read(
          new ShardId(new BlobId(8, i), 0), ShardView.ORIGINAL, 0, contents.get(i).length, answer);
    }
    for (int i = 0; i < count; i++) {
      assertArrayEquals(contents.get(i), bytesOf(reads.get(i).await()));
    }
  }

  protected final DriveId put(ShardId shard, long offset, byte[] bytes) throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    store.write(shardWrite(shard, offset, bytes), answer);
    return answer.await();
  }

  protected final byte[] get(ShardId shard, long offset, int length) throws ShardException {
    Answer<ShardData> answer = new Answer<>();
    store.read(shard, ShardView.ORIGINAL, offset, length, answer);
    return bytesOf(answer.await());
  }

  protected final ShardFault readFault(ShardId shard, long offset, int length) {
    Answer<ShardData> answer = new Answer<>();
    store.read(shard, ShardView.ORIGINAL, offset, length, answer);
    return answer.awaitFault();
  }

  protected final void delete(List<BlobId> blobs) throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    store.delete(blobs, answer);
    answer.await();
  }

  private List<BlobId> blobsBelow(long session) throws ShardException {
    List<BlobId> seen = new ArrayList<>();
    store.forEachBlobBelow(session, seen::add);
    return seen;
  }

  /** A write of these bytes with the right checksums, in direct memory of no special alignment. */
  public static ShardWrite shardWrite(ShardId shard, long offset, byte[] bytes) {
    return new ShardWrite(shard, offset, direct(bytes), crcs(bytes));
  }

  /** The checksum of each block. */
  public static int[] crcs(byte[] bytes) {
    int[] crcs = new int[Math.ceilDiv(bytes.length, BLOCK)];
    for (int i = 0; i < crcs.length; i++) {
      CRC32C crc = new CRC32C();
      crc.update(bytes, i * BLOCK, Math.min(BLOCK, bytes.length - i * BLOCK));
      crcs[i] = (int) crc.getValue();
    }
    return crcs;
  }

  /** Copies the bytes out and gives the memory back. */
  public static byte[] bytesOf(ShardData data) {
    byte[] bytes = new byte[data.bytes().remaining()];
    data.bytes().get(data.bytes().position(), bytes);
    data.release();
    return bytes;
  }

  static ByteBuffer direct(byte[] bytes) {
    return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
  }

  private static byte[] randomBytes(int length) {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return bytes;
  }
}
