/* bare_empty - what starting and ending a program costs by itself. */
int main(void)
{
    return 0;
}
