package dev.ashlar.it;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows between the modules, and what only one place may use. */
@AnalyzeClasses(
    packages = "dev.ashlar",
    importOptions = {
      ImportOption.DoNotIncludeTests.class,
      ArchitectureTest.DoNotIncludeTestJars.class
    })
class ArchitectureTest {
  /** Which are on the class path for their helpers. */
  static final class DoNotIncludeTestJars implements ImportOption {
    @Override
    public boolean includes(Location location) {
      return !location.contains("-tests.jar");
    }
  }

  @ArchTest
  static final ArchRule MODULES =
      layeredArchitecture()
          .consideringOnlyDependenciesInLayers()
          .withOptionalLayers(true)
          .layer("codec")
          .definedBy("dev.ashlar.codec..")
          .layer("protocol")
          .definedBy("dev.ashlar.protocol..")
          .layer("transport")
          .definedBy("dev.ashlar.transport..")
          .layer("storage")
          .definedBy("dev.ashlar.storage..")
          .layer("metadata")
          .definedBy("dev.ashlar.metadata..")
          .layer("blob")
          .definedBy("dev.ashlar.blob..")
          .layer("gateway")
          .definedBy("dev.ashlar.gateway..")
          .layer("importer")
          .definedBy("dev.ashlar.importer..")
          .layer("server")
          .definedBy("dev.ashlar.server..")
          .layer("bench")
          .definedBy("dev.ashlar.bench..")
          .whereLayer("codec")
          .mayNotAccessAnyLayer()
          .whereLayer("protocol")
          .mayNotAccessAnyLayer()
          .whereLayer("transport")
          .mayOnlyAccessLayers("protocol")
          .whereLayer("storage")
          .mayOnlyAccessLayers("protocol", "codec", "transport")
          .whereLayer("metadata")
          .mayOnlyAccessLayers("protocol", "transport")
          .whereLayer("blob")
          .mayOnlyAccessLayers("protocol", "codec")
          .whereLayer("gateway")
          .mayOnlyAccessLayers("protocol", "blob", "codec", "transport")
          .whereLayer("importer")
          .mayNotAccessAnyLayer()
          .whereLayer("server")
          .mayOnlyBeAccessedByLayers("bench")
          .whereLayer("bench")
          .mayNotBeAccessedByAnyLayer()
          .because("processes meet in protocol; only server knows every role");

  @ArchTest
  static final ArchRule GATEWAY_KNOWS_NO_ERASURE_CODE =
      noClasses()
          .that()
          .resideInAPackage("dev.ashlar.gateway..")
          .should()
          .dependOnClassesThat(
              resideInAnyPackage("dev.ashlar.codec..")
                  .and(
                      com.tngtech.archunit.base.DescribedPredicate.not(
                          resideInAnyPackage("dev.ashlar.codec.checksum.."))))
          .because("the engine encodes; the gateway only computes checksums");

  @ArchTest
  static final ArchRule SDK_IN_THE_IMPORTER =
      noClasses()
          .that()
          .resideOutsideOfPackages("dev.ashlar.importer..", "dev.ashlar.it..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("software.amazon.awssdk..")
          .because("only what copies from other services is a client of S3");

  @ArchTest
  static final ArchRule RATIS_IN_ONE_PACKAGE =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.ashlar.metadata.consensus..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.apache.ratis..")
          .because("consensus is behind one seam");

  @ArchTest
  static final ArchRule OPENTELEMETRY_IN_ONE_PACKAGE =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.ashlar.server.telemetry..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.opentelemetry..", "io.micrometer.registry.otlp..")
          .because("what is traced knows only protocol.trace");

  @ArchTest
  static final ArchRule NETTY_AT_THE_SOCKETS =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "dev.ashlar.gateway..",
              "dev.ashlar.transport..",
              "dev.ashlar.storage.server..",
              "dev.ashlar.server.port..",
              "dev.ashlar.bench..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.netty..")
          .because("drives, engine and metadata know no network");

  @ArchTest
  static final ArchRule ROCKSDB_BEHIND_TABLES =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "dev.ashlar.metadata..",
              "dev.ashlar.storage..",
              "dev.ashlar.server..",
              "dev.ashlar.bench..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.rocksdb..")
          .because("the gateway and the engine know no storage format");

  @ArchTest
  static final ArchRule ONE_LOGGING_API =
      noClasses()
          .should()
          .dependOnClassesThat()
          .resideInAPackage("java.util.logging..")
          .because("we log through SLF4J");

  @ArchTest
  static final ArchRule NOBODY_PRINTS =
      noClasses()
          .that()
          .resideOutsideOfPackages("dev.ashlar.server..", "dev.ashlar.bench..")
          .should(com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS)
          .because("only programs write to the terminal");

  @ArchTest
  static final ArchRule NO_CYCLES =
      slices()
          .matching("dev.ashlar.(*)..")
          .should()
          .beFreeOfCycles()
          .ignoreDependency(alwaysTrue(), resideInAnyPackage("dev.ashlar.it.."));
}
