package dev.ashlar.gateway.operation;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hashing;
import com.google.protobuf.ByteString;
import dev.ashlar.codec.checksum.Crc64Nvme;
import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.access.policy.Policy;
import dev.ashlar.gateway.access.policy.PolicyKind;
import dev.ashlar.gateway.access.policy.Requester;
import dev.ashlar.gateway.access.policy.decision.IdentityPolicies;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import dev.ashlar.gateway.auth.Authenticator;
import dev.ashlar.gateway.auth.S3Facts;
import dev.ashlar.gateway.checksum.ChecksumKind;
import dev.ashlar.gateway.checksum.Checksums;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.gateway.form.PostPolicy;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.IdentityRow;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;
import org.jspecify.annotations.Nullable;

/**
 * Believes the header x-test-owner, and that the sender is a user of the owner's account with the
 * policy of the header x-test-policy; verifies checksums in headers like the real one.
 */
final class TestAuthenticator implements Authenticator {
  @Override
  public AuthenticatedRequest authenticate(HttpExchange exchange) throws S3Exception {
    return authenticate(exchange, exchange.headers());
  }

  /** Believes that the policy is signed, if there is one. */
  @Override
  public AuthenticatedRequest authenticateForm(PostForm form) throws S3Exception {
    AuthenticatedRequest request = authenticate(form, form.request().headers());
    String policy = form.field("policy");
    if (policy != null) {
      PostPolicy.parse(policy).require(form, Instant.now());
    }
    return request;
  }

  private static AuthenticatedRequest authenticate(HttpExchange exchange, HttpHeaders headers)
      throws S3Exception {
    String owner = headers.get("x-test-owner", "owner");
    if (owner.equals("nobody")) {
      throw new S3Exception(S3Error.SIGNATURE_DOES_NOT_MATCH);
    }
    if (owner.equals("anonymous")) {
      return new AuthenticatedRequest(
          Caller.anonymous(S3Facts.of(exchange, null, Instant.EPOCH)), new Body(exchange));
    }
    String policy = headers.get("x-test-policy");
    Principal principal =
        policy == null ? Principal.root("AK", account(owner), owner) : user(owner, policy);
    return new AuthenticatedRequest(
        Caller.of(principal, S3Facts.of(exchange, principal, Instant.EPOCH)), new Body(exchange));
  }

  /** A user of the owner's account, who may do what this policy allows. */
  private static Principal user(String owner, String policy) {
    String account = account(owner);
    Requester.User requester =
        new Requester.User(account, owner, "arn:aws:iam::" + account + ":user/u", "AIDAU", "u");
    return new Principal(
        "AK",
        AccountRow.newBuilder().setId(account).setCanonicalId(owner).build(),
        IdentityRow.getDefaultInstance(),
        null,
        requester,
        new IdentityPolicies(List.of(parsed(policy)), List.of()));
  }

  private static Policy parsed(String policy) {
    try {
      return Policy.parse(policy, PolicyKind.identity(PolicyKind.USER_CHARACTERS_MAX));
    } catch (MalformedPolicyException e) {
      throw new IllegalArgumentException(policy, e);
    }
  }

  /** The account id of an owner. */
  static String account(String owner) {
    return "%012d".formatted(owner.hashCode() & 0x7fffffff);
  }

  static ByteString digest(ChecksumAlgorithm algorithm, byte[] bytes) {
    return switch (algorithm) {
      case CHECKSUM_CRC32 -> crc(new CRC32(), bytes, 4);
      case CHECKSUM_CRC32C -> crc(new CRC32C(), bytes, 4);
      case CHECKSUM_CRC64NVME -> crc(new Crc64Nvme(), bytes, 8);
      case CHECKSUM_SHA1 -> digest("SHA-1", bytes);
      case CHECKSUM_SHA256 -> digest("SHA-256", bytes);
      case CHECKSUM_SHA512 -> digest("SHA-512", bytes);
      case CHECKSUM_MD5 -> digest("MD5", bytes);
      case CHECKSUM_XXHASH64 -> number(Hashing.xxh64().hashBytesToLong(bytes));
      case CHECKSUM_XXHASH3 -> number(Hashing.xxh3_64().hashBytesToLong(bytes));
      case CHECKSUM_XXHASH128 -> number(Hashing.xxh3_128().hashBytesTo128Bits(bytes));
      case CHECKSUM_NONE, UNRECOGNIZED -> throw new IllegalArgumentException();
    };
  }

  static String base64(ChecksumAlgorithm algorithm, byte[] bytes) {
    return Base64.getEncoder().encodeToString(digest(algorithm, bytes).toByteArray());
  }

  private static ByteString number(long value) {
    return ByteString.copyFrom(ByteBuffer.allocate(8).putLong(value).flip());
  }

  private static ByteString number(HashValue128 value) {
    return number(value.getMostSignificantBits()).concat(number(value.getLeastSignificantBits()));
  }

  private static ByteString crc(Checksum crc, byte[] bytes, int width) {
    crc.update(bytes, 0, bytes.length);
    ByteBuffer value = ByteBuffer.allocate(8).putLong(crc.getValue()).flip();
    return ByteString.copyFrom(value.position(8 - width));
  }

  static ByteString digest(String name, byte[] bytes) {
    try {
      return ByteString.copyFrom(MessageDigest.getInstance(name).digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class Body implements PayloadBody {
    private final RequestBody raw;
    private final HttpHeaders headers;
    private final ByteArrayOutputStream seen = new ByteArrayOutputStream();
    private ChecksumAlgorithm algorithm = ChecksumAlgorithm.CHECKSUM_NONE;
    private ChecksumValue checksum = ChecksumValue.getDefaultInstance();

    Body(HttpExchange exchange) {
      this.raw = exchange.body();
      this.headers = exchange.headers();
      // There the checksum is the finished object's.
      boolean completesUpload =
          exchange.method().equals("POST") && exchange.rawQuery().contains("uploadId");
      if (completesUpload) {
        return;
      }
      for (ChecksumKind candidateKind : ChecksumKind.ALL) {
        ChecksumAlgorithm candidate = candidateKind.algorithm();
        if (headers.contains(ChecksumKind.of(candidate).header())) {
          algorithm = candidate;
        }
      }
    }

    @Override
    public long length() {
      return raw.length();
    }

    @Override
    public @Nullable ByteBuf read() throws S3Exception, InterruptedException {
      ByteBuf piece = raw.read();
      if (piece != null) {
        byte[] copy = new byte[piece.readableBytes()];
        piece.getBytes(piece.readerIndex(), copy);
        seen.writeBytes(copy);
        return piece;
      }
      if (algorithm != ChecksumAlgorithm.CHECKSUM_NONE) {
        checksum =
            ChecksumValue.newBuilder()
                .setAlgorithm(algorithm)
                .setValue(digest(algorithm, seen.toByteArray()))
                .build();
        String sent = headers.get(ChecksumKind.of(algorithm).header());
        if (sent != null && !sent.equals(Checksums.text(checksum))) {
          throw new S3Exception(S3Error.BAD_DIGEST);
        }
      }
      return null;
    }

    @Override
    public ChecksumValue checksum() {
      return checksum;
    }

    @Override
    public void skipMd5() {}

    @Override
    public void requireMd5(byte[] computed) {}

    @Override
    public void alsoCompute(ChecksumAlgorithm wanted) {
      algorithm = wanted;
    }
  }
}
