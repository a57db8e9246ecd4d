package dev.ashlar.gateway.encryption.vault;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.DataKey;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Data keys that Vault has sealed or opened a short time ago, the latest ones. So an object that is
 * read often costs few calls, and a key that is revoked in Vault works for some minutes at most.
 */
final class OpenedKeys {
  static final int ENTRIES_MAX = 10_000;
  static final Duration LIFE = Duration.ofMinutes(5);

  private final LongSupplier nanoTime;
  private final Map<ByteString, Entry> entries = new LinkedHashMap<>();

  private record Entry(DataKey key, long endNanos) {}

  OpenedKeys(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Null: Vault has to be asked. */
  @Nullable DataKey find(String keyId, byte[] sealed, byte[] bound) {
    ByteString name = name(keyId, sealed, bound);
    synchronized (entries) {
      Entry entry = entries.get(name);
      if (entry == null) {
        return null;
      }
      if (nanoTime.getAsLong() - entry.endNanos >= 0) {
        entries.remove(name);
        return null;
      }
      return DataKey.of(entry.key.getEncoded());
    }
  }

  void remember(String keyId, byte[] sealed, byte[] bound, byte[] plain) {
    ByteString name = name(keyId, sealed, bound);
    Entry entry = new Entry(DataKey.of(plain.clone()), nanoTime.getAsLong() + LIFE.toNanos());
    synchronized (entries) {
      entries.remove(name);
      entries.put(name, entry);
      if (entries.size() > ENTRIES_MAX) {
        entries.remove(entries.keySet().iterator().next());
      }
    }
  }

  private static ByteString name(String keyId, byte[] sealed, byte[] bound) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] part : new byte[][] {keyId.getBytes(UTF_8), sealed}) {
        digest.update(ByteString.copyFromUtf8(part.length + ":").toByteArray());
        digest.update(part);
      }
      return ByteString.copyFrom(digest.digest(bound));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
