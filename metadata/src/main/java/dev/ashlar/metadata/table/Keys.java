package dev.ashlar.metadata.table;

import dev.ashlar.protocol.model.BlobId;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * The layout of every key. A key begins with one byte that names its table; numbers are big-endian,
 * so that bytes order as numbers do.
 *
 * <pre>
 * X                                        AppliedRow
 * B | name                                 BucketRow
 * O | bucket id 8 | text(key)              ObjectRow
 * D | bucket id 8 | text(key)              ObjectDetailRow
 * D | bucket id 8 | text(key) | version 8  ObjectDetailRow
 * H | bucket id 8 | text(key) | ~version 8 ObjectRow
 * J | bucket id 8 | text(key)              VersionRef
 * f | bucket id 8 | text(key) | version 8  ObjectFacts
 * C | bucket id 8 | kind 1                 (the document)
 * w | log position 8 | number 4            EventRow
 * W                                        OutboxRow
 * u | bucket id 8                          UsageRow
 * a | owner                                UsageRow
 * L | bucket id 8 | text(key) | version 8 | chunk 4   ObjectChunkRow
 * P | pg 4 | session 8 | sequence 8        BlobRow
 * G | unreferenced at 8 | session 8 | sequence 8   (empty)
 * F | session 8 | sequence 8               (empty)
 * E | spare shards + 128, 1 | session 8 | sequence 8   bytes in debt 8
 * Y | spare shards + 128, 1                DebtLevel
 * K | session 8 | sequence 8               BlobIdValue
 * U | bucket id 8 | text(key) | text(upload id)    UploadRow
 * T | bucket id 8 | text(key) | text(upload id) | part number 4   PartRow
 * S | session 8                            SessionRow
 * R | log index 8                          DedupRow
 * A | access key                           CredentialRow
 * V | drive 16                             DriveRow
 * M                                        PgMapRow
 * N | name                                 NodeRow
 * Q | drive 16                             DriveLoad
 * Z                                        BalanceRow
 * m | id 8                                 MoveJobRow
 * e                                        (empty)
 * I | account 8 | kind 1 | ...             accounts and identities, see {@link IdentityKeys}
 * </pre>
 *
 * <p>text(s) is the UTF-8 of s with 00 written as 00 FF, closed by 00 00: it orders as the UTF-8
 * bytes do, no text is a prefix of another, and more can follow it.
 */
public final class Keys {
  private static final int ID_BYTES = 9; // table, bucket id

  /** Added to the spare, which may be negative, so that it orders as a byte. */
  private static final int SPARE_BIAS = 128;

  private Keys() {}

  public static byte[] applied() {
    return table('X');
  }

  public static byte[] pgMap() {
    return table('M');
  }

  public static byte[] bucket(String name) {
    return named('B', name);
  }

  /** The name in the key of a bucket. */
  public static String nameOf(byte[] bucketKey) {
    return new String(bucketKey, 1, bucketKey.length - 1, StandardCharsets.UTF_8);
  }

  public static byte[] credential(String accessKey) {
    return named('A', accessKey);
  }

  public static byte[] drive(UUID id) {
    return numbered('V', id.getMostSignificantBits(), id.getLeastSignificantBits());
  }

  /** The row with the relocated shards of a drive. */
  public static byte[] driveLoad(UUID id) {
    return numbered('Q', id.getMostSignificantBits(), id.getLeastSignificantBits());
  }

  public static byte[] balance() {
    return table('Z');
  }

  /** Of the row that says that objects have been encrypted. */
  public static byte[] encryption() {
    return table('e');
  }

  public static byte[] moveJob(long id) {
    return numbered('m', id);
  }

  public static byte[] node(String name) {
    return named('N', name);
  }

  public static byte[] session(long session) {
    return numbered('S', session);
  }

  public static byte[] dedup(long logIndex) {
    return numbered('R', logIndex);
  }

  /** The session or log index of such a key. */
  public static long idOf(byte[] key) {
    return ByteBuffer.wrap(key).getLong(1);
  }

  /**
   * The key of a blob's row.
   *
   * @param pg the placement group of the blob
   */
  public static byte[] blob(int pg, BlobId id) {
    return ByteBuffer.allocate(21)
        .put((byte) 'P')
        .putInt(pg)
        .putLong(id.session())
        .putLong(id.sequence())
        .array();
  }

  public static byte[] garbage(long unreferencedAtMs, BlobId id) {
    return numbered('G', unreferencedAtMs, id.session(), id.sequence());
  }

  /** The first garbage key at this time. */
  public static byte[] garbage(long unreferencedAtMs) {
    return numbered('G', unreferencedAtMs);
  }

  public static BlobId blobOfGarbage(byte[] garbageKey) {
    return blobAt(garbageKey, 9);
  }

  /** The key of a blob with unfolded changes. */
  public static byte[] unfolded(BlobId id) {
    return numbered('F', id.session(), id.sequence());
  }

  public static BlobId blobOfUnfolded(byte[] unfoldedKey) {
    return blobAt(unfoldedKey, 1);
  }

  /**
   * The key of a blob with debts.
   *
   * @param spare how many more shards it can lose
   */
  public static byte[] debt(int spare, BlobId id) {
    return ByteBuffer.allocate(18)
        .put((byte) 'E')
        .put((byte) (spare + SPARE_BIAS))
        .putLong(id.session())
        .putLong(id.sequence())
        .array();
  }

  /** The prefix of the keys of all blobs with this spare. */
  public static byte[] debt(int spare) {
    return new byte[] {'E', (byte) (spare + SPARE_BIAS)};
  }

  /** The sum of the debts of all blobs with this spare. */
  public static byte[] debtLevel(int spare) {
    return new byte[] {'Y', (byte) (spare + SPARE_BIAS)};
  }

  public static int spareOfDebt(byte[] debtKey) {
    return (debtKey[1] & 0xFF) - SPARE_BIAS;
  }

  public static BlobId blobOfDebt(byte[] debtKey) {
    return blobAt(debtKey, 2);
  }

  /** The key for the name of a rebuilt shard. */
  public static byte[] shardName(BlobId name) {
    return numbered('K', name.session(), name.sequence());
  }

  /** The prefix of the keys of all blobs of a placement group. */
  public static byte[] group(int pg) {
    return ByteBuffer.allocate(5).put((byte) 'P').putInt(pg).array();
  }

  public static byte[] object(long bucketId, String key) {
    return inBucket('O', bucketId, key).array();
  }

  public static byte[] objectDetail(long bucketId, String key) {
    return inBucket('D', bucketId, key).array();
  }

  /** The key of the details of a version of a bucket with versioning. */
  public static byte[] objectDetail(long bucketId, String key, long version) {
    return inBucket('D', bucketId, key).number(version).array();
  }

  /** The key of a version that is not the present one. Later versions order first. */
  public static byte[] olderVersion(long bucketId, String key, long version) {
    return inBucket('H', bucketId, key).number(~version).array();
  }

  /** The prefix of the keys of all versions of this object key but the present one. */
  public static byte[] olderVersions(long bucketId, String key) {
    return inBucket('H', bucketId, key).array();
  }

  /** The key of the reference to a null version that is not the present one. */
  public static byte[] nullVersion(long bucketId, String key) {
    return inBucket('J', bucketId, key).array();
  }

  public static byte[] objectFacts(long bucketId, String key, long version) {
    return inBucket('f', bucketId, key).number(version).array();
  }

  public static byte[] bucketDocument(long bucketId, int kind) {
    return ByteBuffer.allocate(ID_BYTES + 1)
        .put((byte) 'C')
        .putLong(bucketId)
        .put((byte) kind)
        .array();
  }

  /**
   * The key of an event.
   *
   * @param number among the events of this position in the log
   */
  public static byte[] event(long position, int number) {
    return new Builder('w').number(position).number(number).array();
  }

  public static byte[] outbox() {
    return table('W');
  }

  public static byte[] bucketUsage(long bucketId) {
    return numbered('u', bucketId);
  }

  public static byte[] accountUsage(String owner) {
    return named('a', owner);
  }

  /** The bucket id in the key of a row of an object, version, upload or part. */
  public static long bucketOf(byte[] key) {
    return ByteBuffer.wrap(key).getLong(1);
  }

  public static byte[] objectChunk(long bucketId, String key, long version, int chunk) {
    return inBucket('L', bucketId, key).number(version).number(chunk).array();
  }

  public static byte[] upload(long bucketId, String key, String uploadId) {
    return inBucket('U', bucketId, key).text(uploadId).array();
  }

  /** The prefix of the keys of all uploads of this object key. */
  public static byte[] uploadsOf(long bucketId, String key) {
    return inBucket('U', bucketId, key).array();
  }

  public static byte[] part(long bucketId, String key, String uploadId, int number) {
    return inBucket('T', bucketId, key).text(uploadId).number(number).array();
  }

  /** The prefix of all keys of a table. */
  public static byte[] table(char table) {
    return new byte[] {(byte) table};
  }

  /** The prefix of the keys of a bucket's rows in a table, such as objects ('O'). */
  public static byte[] inBucket(char table, long bucketId) {
    return new Builder(table).number(bucketId).array();
  }

  /** The prefix of the keys of the bucket's rows whose text begins with these UTF-8 bytes. */
  public static byte[] inBucket(char table, long bucketId, byte[] textPrefix) {
    return new Builder(table).number(bucketId).escaped(textPrefix).array();
  }

  /** The UTF-8 bytes of the object's key in an object or upload key. */
  public static byte[] textOf(byte[] key) {
    int end = endOfText(key, ID_BYTES);
    byte[] text = new byte[end - ID_BYTES];
    int length = 0;
    for (int i = ID_BYTES; i < end; i++) {
      text[length++] = key[i];
      if (key[i] == 0) {
        i++;
      }
    }
    return length == text.length ? text : Arrays.copyOf(text, length);
  }

  private static int endOfText(byte[] key, int from) {
    int i = from;
    while (key[i] != 0 || key[i + 1] != 0) {
      i += key[i] == 0 ? 2 : 1;
    }
    return i;
  }

  /** The first key after all keys with this prefix. */
  public static byte[] behind(byte[] prefix) {
    int last = prefix.length - 1;
    while (prefix[last] == (byte) 0xFF) {
      last--;
    }
    byte[] next = Arrays.copyOf(prefix, last + 1);
    next[last]++;
    return next;
  }

  private static byte[] numbered(char table, long... numbers) {
    ByteBuffer key = ByteBuffer.allocate(1 + numbers.length * Long.BYTES).put((byte) table);
    for (long number : numbers) {
      key.putLong(number);
    }
    return key.array();
  }

  private static BlobId blobAt(byte[] key, int position) {
    ByteBuffer buffer = ByteBuffer.wrap(key, position, 2 * Long.BYTES);
    return new BlobId(buffer.getLong(), buffer.getLong());
  }

  private static byte[] named(char table, String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(1 + text.length).put((byte) table).put(text).array();
  }

  private static Builder inBucket(char table, long bucketId, String text) {
    return new Builder(table).number(bucketId).text(text);
  }

  /** Appends the parts of a key. */
  static final class Builder {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(64);

    Builder(char table) {
      bytes.write(table);
    }

    Builder number(long value) {
      for (int shift = 56; shift >= 0; shift -= 8) {
        bytes.write((int) (value >>> shift));
      }
      return this;
    }

    Builder number(int value) {
      for (int shift = 24; shift >= 0; shift -= 8) {
        bytes.write(value >>> shift);
      }
      return this;
    }

    Builder letter(char letter) {
      bytes.write(letter);
      return this;
    }

    Builder text(String text) {
      escaped(text.getBytes(StandardCharsets.UTF_8));
      bytes.write(0);
      bytes.write(0);
      return this;
    }

    Builder escaped(byte[] text) {
      for (byte b : text) {
        bytes.write(b);
        if (b == 0) {
          bytes.write(0xFF);
        }
      }
      return this;
    }

    byte[] array() {
      return bytes.toByteArray();
    }
  }
}
