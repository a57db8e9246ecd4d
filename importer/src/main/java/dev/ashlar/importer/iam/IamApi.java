package dev.ashlar.importer.iam;

import java.io.IOException;
import java.util.Map;

/** The IAM interface of an account. */
public interface IamApi {
  /** A call was refused. */
  final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;
    private final String code;

    RefusedException(String code, String message) {
      super(code + ": " + message);
      this.code = code;
    }

    /** Whether what is to be made is there already. */
    boolean isAboutExisting() {
      return code.equals("EntityAlreadyExists");
    }
  }

  /**
   * The document of the answer.
   *
   * @throws RefusedException if it is refused
   */
  String call(String action, Map<String, String> parameters) throws IOException;
}
