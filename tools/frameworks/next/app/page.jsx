export default function Page() {
  return <h1>Hello, Next.js!</h1>;
}
