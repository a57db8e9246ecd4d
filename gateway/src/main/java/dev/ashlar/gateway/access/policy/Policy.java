package dev.ashlar.gateway.access.policy;

import dev.ashlar.gateway.access.policy.Principals.Match;
import dev.ashlar.gateway.access.policy.document.DocumentReader;
import dev.ashlar.gateway.access.policy.document.MalformedPolicyException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A policy, ready to be asked. Immutable; all its patterns are compiled. */
public final class Policy {
  /** IAM's limit of the parameter that a document is sent in. */
  private static final int DOCUMENT_CHARACTERS_MAX = 131_072;

  private final List<Statement> statements;
  private final boolean isPublic;

  private Policy(List<Statement> statements) {
    this.statements = List.copyOf(statements);
    this.isPublic = statements.stream().anyMatch(Statement::isPublic);
  }

  /**
   * @param document JSON in UTF-8
   */
  public static Policy parse(byte[] document, PolicyKind kind) throws MalformedPolicyException {
    if (document.length > DOCUMENT_CHARACTERS_MAX * 4) {
      throw new MalformedPolicyException("document: is too large");
    }
    return parse(DocumentReader.decode(document), kind);
  }

  public static Policy parse(String document, PolicyKind kind) throws MalformedPolicyException {
    checkSize(document, kind);
    return new Policy(new PolicyParser(kind).parse(DocumentReader.read(document)));
  }

  private static void checkSize(String document, PolicyKind kind) throws MalformedPolicyException {
    if (document.length() > DOCUMENT_CHARACTERS_MAX) {
      throw new MalformedPolicyException("document: is too large");
    }
    switch (kind) {
      case PolicyKind.Bucket b ->
          checkSize(
              document.getBytes(StandardCharsets.UTF_8).length,
              PolicyKind.BUCKET_BYTES_MAX,
              "bytes");
      case PolicyKind.Session s ->
          checkSize(document.length(), PolicyKind.SESSION_CHARACTERS_MAX, "characters");
      case PolicyKind.Identity identity ->
          checkSize(countWithoutSpace(document), identity.charactersMax(), "characters");
      case PolicyKind.Trust trust ->
          checkSize(countWithoutSpace(document), trust.charactersMax(), "characters");
    }
  }

  private static void checkSize(long size, int max, String unit) throws MalformedPolicyException {
    if (size > max) {
      throw new MalformedPolicyException(
          "document: has " + size + " " + unit + ", " + max + " are allowed");
    }
  }

  private static long countWithoutSpace(String document) {
    return document.chars().filter(c -> !Character.isWhitespace(c)).count();
  }

  public Verdict evaluate(AccessRequest request) {
    Verdict verdict = Verdict.NO_MATCH;
    for (Statement statement : statements) {
      // An allowing statement cannot change an ALLOW any more, only a denying one can.
      if (verdict == Verdict.ALLOW && statement.isAllowing()) {
        continue;
      }
      Match match = statement.match(request);
      if (match == Match.NONE) {
        continue;
      }
      if (!statement.isAllowing()) {
        return Verdict.DENY;
      }
      verdict = match == Match.CALLER ? Verdict.ALLOW : Verdict.ALLOW_ACCOUNT;
    }
    return verdict;
  }

  /**
   * Whether a statement allows something to everybody without a condition that fixes where requests
   * come from; only bucket policies can be public.
   */
  public boolean isPublic() {
    return isPublic;
  }
}
